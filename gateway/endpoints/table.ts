// In charge of which system endpoints there are beside SPARQL (spec 4.3): what each takes, what it needs, what answers it.
import type { Decision, Mode } from '../../policies/decide.js'
import { ACCESS } from './access.js'
import { ACCESS_REQUEST } from './access-request.js'
import type { Response } from '../http/exchange.js'
import type { Application, Member } from '../gateway.js'
import type { Context } from '../request/context.js'
import { authorize, login } from './log-in.js'
import type { Problem } from '../problem.js'
import { SIGN_UP } from './sign-up.js'
import type { Target } from '../http/target.js'

export type EndpointTarget = Target<Member> & { readonly kind: 'endpoint' }

export interface Endpoint {
  /** As Allow has them, OPTIONS included. */
  readonly methods: string
  /** The mode that is needed on the endpoint itself; 'open': the endpoint says who may do what. */
  needs(method: string): Mode | 'open'
  /** `decision` is undefined where the endpoint is open. */
  answer(context: Context, target: EndpointTarget, decision: Decision | undefined): Promise<Response | Problem>
}

/** By their names in target.ts. */
const ENDPOINTS: Readonly<Record<Application['kind'], Readonly<Record<string, Endpoint>>>> = {
  'end-user': {
    'oauth2/login': login,
    'oauth2/authorize/': authorize,
    access: ACCESS,
    'access/request': ACCESS_REQUEST,
  },
  admin: {
    'oauth2/login': login,
    'oauth2/authorize/': authorize,
    access: ACCESS,
    'access/request': ACCESS_REQUEST,
    'sign%20up': SIGN_UP,
  },
}

export const endpointOf = ({ application, endpoint }: EndpointTarget): Endpoint | undefined =>
  ENDPOINTS[application.kind][endpoint]

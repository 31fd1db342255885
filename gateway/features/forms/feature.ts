// Forms: pages for changing a document without a program (`?form=`).
import type { GatewayFeature } from '../../feature.js'
import type { DecidedRoute } from '../../request/route.js'
import {
  FORM_ACCEPTS,
  FORM_METHODS,
  formCouldNeed,
  neededByForm,
  readForm,
  type FormTarget,
  type SentForm,
} from '../../request/page-form.js'
import { answerForm } from './forms.js'

const form: DecidedRoute<FormTarget, SentForm> = {
  methods: FORM_METHODS,
  accepts: FORM_ACCEPTS,
  couldNeed: formCouldNeed,
  read: readForm,
  needs: neededByForm,
  answer: answerForm,
}
const restore: typeof form = { ...form, decidesAgain: true }

export const FORMS: GatewayFeature = { kinds: { form: (target) => (target.form === 'restore' ? restore : form) } }

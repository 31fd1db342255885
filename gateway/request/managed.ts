// What features add to the management listener (for programs of this machine), and what its requests need.
import type { Request, Response } from '../http/exchange.js'
import type { Gateway } from '../gateway.js'
import { part } from '../part.js'

/**
 * The field of a request to the listener that changes something: neither a form nor a page of another origin can send
 * it.
 */
export const WRITE_FIELD = 'triplegate-management'

/** A POST to this path, by programs that may read the data folder. */
export interface Managed {
  readonly path: string
  answer(request: Request, gateway: Gateway): Promise<Response>
}

export const MANAGEMENT_PATH = part<Managed>('path of the management listener')

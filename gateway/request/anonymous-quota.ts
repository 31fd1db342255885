// The limits of requests that need no right, such as sign-ups and requests for access: per network and in total, at
// once and per day. No client can use up the share of the others.
import { makeDaily, makePlaces, type TakeOfDay, type TakePlace } from '../places.js'
import { isFailure, problem, type Problem } from '../problem.js'
import type { Context } from './context.js'

/** The limits of requests that need no right. */
export type OpenDoor = { readonly takePlace: TakePlace; readonly takeOfDay: TakeOfDay }

export const AT_ONCE = { each: 2, all: 16 } as const

/** @param daily the total per day; one network gets a tenth of it */
export const makeOpenDoor = (daily: number, now: () => number): OpenDoor => ({
  takePlace: makePlaces(AT_ONCE),
  takeOfDay: makeDaily({ each: Math.ceil(daily / 10), all: daily }, now),
})

/** Acts while holding a place of the client's network. Counts towards the network's day unless the act fails. */
export async function withinShares<T>(
  { request }: Pick<Context, 'request'>,
  { takePlace, takeOfDay }: OpenDoor,
  count: number,
  act: () => Promise<T | Problem>,
): Promise<T | Problem> {
  const network = request.network()
  const giveBack = takeOfDay(network, count)
  if (typeof giveBack === 'number') return tooManyToday(giveBack)
  const leave = takePlace(network)
  try {
    const outcome = leave ? await act() : BUSY
    if (isFailure(outcome)) giveBack()
    return outcome
  } catch (error) {
    giveBack()
    throw error
  } finally {
    leave?.()
  }
}

/** RFC 6585 §4. `wait` in ms. */
export const tooManyToday = (wait: number): Problem =>
  problem('share.daily', 'The daily limit for these requests is reached. Retry tomorrow.', {
    fields: [['Retry-After', String(Math.ceil(wait / 1000))]],
  })

const BUSY = problem('server.overloaded', 'Too many of these requests are being handled. Retry shortly.', {
  fields: [['Retry-After', '2']],
})

// What clients without any right may ask for, sign-ups and requests for access: so many at once and in a day, for
// one network and in all, so that no client takes the room of the others.
import { makeDaily, makePlaces, type TakeOfDay, type TakePlace } from '../places.js'
import { isFailure, problem, type Problem } from '../problem.js'
import type { Context } from './context.js'

/** The limits of requests that need no right: how much of it at once and in a day, for one network and in all. */
export type OpenDoor = { readonly takePlace: TakePlace; readonly takeOfDay: TakeOfDay }

export const AT_ONCE = { each: 2, all: 16 } as const

/** @param daily in all; one network has a tenth of it */
export const makeOpenDoor = (daily: number, now: () => number): OpenDoor => ({
  takePlace: makePlaces(AT_ONCE),
  takeOfDay: makeDaily({ each: Math.ceil(daily / 10), all: daily }, now),
})

/** Acts in a place of the client's network, and counts for its day unless the act fails. */
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
  problem('share.daily', 'Too many of these requests today. Retry when the day is over.', {
    fields: [['Retry-After', String(Math.ceil(wait / 1000))]],
  })

const BUSY = problem('server.overloaded', 'Too many of these requests are under way. Retry shortly.', {
  fields: [['Retry-After', '2']],
})

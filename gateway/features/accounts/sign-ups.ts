// Who may sign up, and how many may at a time.
import { part } from '../../part.js'
import type { Doors } from '../../configuration/doors.js'
import { AT_ONCE, makeOpenDoor, type OpenDoor } from '../../request/anonymous-quota.js'
import { makeTurns, type Turns } from '../../stores/connection-slots.js'

export interface SignUps extends OpenDoor {
  readonly who: Doors['signUp']
  /** Each sign-up creates a key: only a few at a time. */
  readonly turns: Turns
}

export const SIGN_UPS = part<SignUps>('sign-ups')

/** Creating a key takes a processor for up to a second. */
const KEYS_AT_ONCE = 2

/** @param daily for all; one network may have a tenth of it */
export const makeSignUps = (daily: number, who: Doors['signUp'], now: () => number): SignUps => ({
  ...makeOpenDoor(daily, now),
  who,
  turns: makeTurns(KEYS_AT_ONCE, AT_ONCE.all),
})

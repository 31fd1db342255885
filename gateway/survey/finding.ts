// The doctor's result about one thing: fine, a finding with its fix, or unknown. Pure.

export interface Finding {
  /** The thing that was checked. */
  readonly what: string
  readonly state: 'fine' | 'finding' | 'unknown'
  /** The observation. */
  readonly evidence: string
  /** The next step. Only findings have one. */
  readonly fix?: string
}

export const fine = (what: string, evidence: string): Finding => ({ what, state: 'fine', evidence })
export const unknown = (what: string, evidence: string): Finding => ({ what, state: 'unknown', evidence })
export const finding = (what: string, evidence: string, fix: string): Finding => ({
  what,
  state: 'finding',
  evidence,
  fix,
})

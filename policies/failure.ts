// The shape of expected failures in policies: values, never thrown.

/** An expected failure as a value: `failure` is its stable code, `detail` a sentence for people. */
export interface Failure<Code extends string = string> {
  readonly failure: Code
  readonly detail: string
}

export const isFailure = <T>(value: T): value is Extract<T, Failure> =>
  typeof value === 'object' && value !== null && 'failure' in value

export const failure = <Code extends string>(code: Code, detail: string): Failure<Code> => ({ failure: code, detail })

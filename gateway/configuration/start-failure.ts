// The only way to stop a start: its message says what is wrong and how to fix it.

export class StartFailure extends Error {
  /** @param failure `configuration.wrong` if every start will fail until an operator changes something */
  constructor(
    detail: string,
    readonly failure: 'start.failed' | 'configuration.wrong' = 'start.failed',
  ) {
    super(detail)
  }
}

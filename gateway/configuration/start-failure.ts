// The one way to stop a start: its message says what is wrong and how to fix it.

export class StartFailure extends Error {
  /**
   * @param failure `configuration.wrong` if another start would fail the same way until an operator changes something
   */
  constructor(
    detail: string,
    readonly failure: 'start.failed' | 'configuration.wrong' = 'start.failed',
  ) {
    super(detail)
  }
}

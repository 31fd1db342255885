// Shared parts of pages with forms: the reason of a refusal, the place of a syntax error, a choice.
import { Plain } from './term.js'
import { texts } from './texts.js'

/** The reason why a form was refused. */
export interface Refusal {
  readonly status: number
  readonly detail: string
  readonly report?: string | undefined
}

interface PlaceProps {
  readonly text: string
  readonly refusal: Pick<Refusal, 'detail'> | undefined
}

/** The line named by a syntax error with its neighbours, and a mark at the column. */
export function ErrorPlace({ text, refusal }: PlaceProps) {
  const [, found, column] = /\bline (\d+)(?:, column (\d+))?/.exec(refusal?.detail ?? '') ?? []
  if (found === undefined) return <p id="place" class="hint" />
  const wrong = Number(found)
  const from = Math.max(1, wrong - 2)
  const lines = text.split('\n').slice(from - 1, wrong + 2)
  return (
    <pre id="place" aria-label={texts().wrongLine(wrong)}>
      {lines.map((line, i) => {
        const number = from + i
        const shown = (
          <>
            {String(number).padStart(4)} <Plain text={line} />
            {'\n'}
          </>
        )
        if (number !== wrong) return shown
        const at = column === undefined ? '' : `${' '.repeat(Math.min(200, Number(column) + 4))}↑\n`
        return (
          <>
            <mark class="minus">{shown}</mark>
            {at}
          </>
        )
      })}
    </pre>
  )
}

interface ChoiceProps {
  readonly name: string
  readonly value: string
  readonly label: string
  readonly isChosen: boolean
  readonly type?: 'radio' | 'checkbox'
}

export const Choice = ({ name, value, label, isChosen, type = 'radio' }: ChoiceProps) => (
  <div class="choice">
    <input type={type} id={`${name}-${value}`} name={name} value={value} checked={isChosen} />{' '}
    <label for={`${name}-${value}`}>{label}</label>
  </div>
)

// Shows what was typed into a form that was refused unread: on the error page, from which it can be sent again.
import { labelOf } from './labels.js'
import { texts } from './texts.js'

export interface KeptForm {
  /** Relative to the URL of the document. */
  readonly action: string
  /** Undefined if the form was not read. */
  readonly values: URLSearchParams | undefined
}

/** Fields that the page set, not a person. */
const MADE: ReadonlySet<string> = new Set(['if-match', 'started', 'do', 'fields', 'type', 'kind', 'document', 'to', 'on', 'mode']) // prettier-ignore
const MOST_TYPED = 100

export function TypedAgain({ sent: { action, values } }: { readonly sent: KeptForm }) {
  const all = values ? [...values] : []
  const typed = all.filter(([name, value]) => !MADE.has(name) && value.trim() !== '')
  if (values && typed.length === 0) return null
  if (!values || typed.length > MOST_TYPED) return <p>{texts().typedBack}</p>
  return (
    <section aria-labelledby="typed">
      <h2 id="typed">{texts().typedTitle}</h2>
      <p>{texts().typedHelp}</p>
      <form method="post" action={action}>
        {all
          .filter(([name]) => MADE.has(name))
          .map(([name, value]) => (
            <input type="hidden" name={name} value={value} />
          ))}
        {typed.map(([name, value], i) => (
          <>
            <label for={`typed-${i}`}>{labelled(name)}</label>
            <textarea
              class={name === 'content' ? 'code' : undefined}
              {...{
                id: `typed-${i}`,
                name,
                rows: Math.min(30, value.split('\n').length + (name === 'content' ? 2 : 0)),
              }}
              spellcheck={false}
            >
              {`\n${value}`}
            </textarea>
          </>
        ))}
        <div class="actions">
          <button class="main">{texts().sendAgain}</button>
        </div>
      </form>
    </section>
  )
}

/** Fields of a shape are named by their properties (shape-form.tsx). */
function labelled(name: string): string {
  if (name === 'content') return texts().turtle
  if (name === 'title') return texts().titleField
  if (name === 'name') return texts().nameField
  if (name === 'who') return texts().grantWho
  const [, , path = name] = name.split(' ')
  return labelOf(path)
}

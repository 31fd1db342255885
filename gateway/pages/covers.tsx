// Shows what a rule covers: this document, others, everything below a container, or all documents of a type.
import type { Coverage } from '../../policies/authorizations/coverage.js'
import { IriShown, NamedTerm } from './term.js'
import { texts } from './texts.js'

interface Props {
  readonly coverage: Coverage
  /** The document that the page is about, if there is one. */
  readonly document?: string
  readonly base: string
}

/** A rule may name thousands. */
const MOST = 10

export function CoverageShown({ coverage: { resources, below, classes, isControl }, document, base }: Props) {
  const isHere = document !== undefined && resources.includes(document)
  const others = resources.filter((one) => one !== document)
  return (
    <ul class="covers">
      {isHere ? <li>{texts().coversThis}</li> : null}
      {below.slice(0, MOST).map((container) => (
        <li>
          {texts().coversBelow} <IriShown iri={container} base={base} />
        </li>
      ))}
      {classes.length === 0 ? null : (
        <li>
          {texts().coversType}{' '}
          {classes.slice(0, MOST).map((type, i) => (
            <>
              {i === 0 ? '' : ', '}
              <NamedTerm iri={type} />
            </>
          ))}
        </li>
      )}
      {isControl ? <li>{texts().coversAdmin}</li> : null}
      {(document === undefined ? others.slice(0, MOST) : []).map((one) => (
        <li>
          <IriShown iri={one} base={base} />
        </li>
      ))}
      {document !== undefined && others.length > 0 ? <li>{texts().coversOthers(others.length)}</li> : null}
      {[below, classes, document === undefined ? others : []].some(({ length }) => length > MOST) ? <li>…</li> : null}
    </ul>
  )
}

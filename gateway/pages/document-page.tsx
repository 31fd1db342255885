// The page of a document: its title, its triples by subject, and the possible actions.
import type { Child } from 'hono/jsx'
import type { Mode } from '../../policies/authorizations/authorization.js'
import { MANAGED } from '../documents/next-state.js'
import { isContainer, isRoot } from '../documents/hierarchy.js'
import { JSON_LD, N_TRIPLES, RDF_XML, TURTLE } from '../http/media-type.js'
import type { Term } from '../rdf/graph.js'
import { ACL, DCT, FOAF, RDF, RDFS } from '../rdf/vocabulary.js'
import { ChildrenList, type Children } from './children-list.js'
import type { DescribedSubjects, DescribedProperty, DescribedSubject } from './triples-by-subject.js'
import { Crumbs, pageOf, type Frame } from './frame.js'
import { StartHere, Upload } from './start-here.js'
import { decoded, localName } from './labels.js'
import { preferredText } from './preferred-text.js'
import { IriShown, NamedTerm, Time, Value, visible } from './term.js'
import { texts, worded } from './texts.js'

export interface DocumentView {
  readonly frame: Frame
  readonly document: string
  readonly types: readonly string[]
  /** The modes that the agent has on the document. */
  readonly modes: readonly Mode[]
  readonly isVersioned: boolean
  readonly described: DescribedSubjects
  readonly children?: Children | undefined
}

export const documentPage = worded((view: DocumentView): string => {
  const { frame, document, described, children } = view
  const { base } = frame.site
  const title = titleOf(document, described.subjects)
  const about = described.subjects.find(({ subject }) => subject.value === document)
  return pageOf(
    frame,
    title,
    <>
      <Crumbs site={frame.site} document={document} />
      <h1>{title}</h1>
      <Types types={view.types} />
      <Actions view={view} />
      {children?.all === 0 && isRoot(document, base) && view.modes.includes('Write') && document === frame.site.home ? (
        <StartHere base={base} admin={frame.site.admin} />
      ) : null}
      {children ? <ChildrenList children={children} document={document} base={base} /> : null}
      {children && view.modes.some((mode) => mode === 'Append' || mode === 'Write') ? <Upload /> : null}
      <Subjects
        described={described}
        document={document}
        base={base}
        heading={title}
        empty={children ? undefined : texts().noTriples}
      />
      <Parts described={described} />
      <About about={about} base={base} />
    </>,
  )
})

/** `dct:title` or similar of the document or its topic, otherwise the last segment of its path. */
export function titleOf(document: string, subjects: readonly DescribedSubject[]): string {
  const candidates = [document, `${document}#this`]
  for (const candidate of candidates) {
    const found = subjects.find(({ subject }) => subject.value === candidate)
    for (const property of [DCT('title'), RDFS('label'), FOAF('name')]) {
      const value = found && preferredText(valuesOf(found, property).filter(isText), texts().tag)
      if (value) return visible(value.value.slice(0, 200))
    }
  }
  return visible(decoded(localName(document)))
}

const valuesOf = ({ properties }: DescribedSubject, property: string): readonly Term[] =>
  properties.find(({ predicate }) => predicate === property)?.objects ?? []

const isText = ({ termType, value }: Term): boolean => termType === 'Literal' && value.trim() !== ''

export const Types = ({ types }: { readonly types: readonly string[] }) => (
  <ul class="chips">
    {types.map((type) => (
      <li>
        <NamedTerm iri={type} />
      </li>
    ))}
  </ul>
)

function Actions({ view }: { readonly view: DocumentView }) {
  const { document, modes, types, isVersioned, frame } = view
  const canWrite = modes.includes('Write')
  const actions: Child[] = []
  const add = (label: string, href: string, kind = 'button'): unknown =>
    actions.push(
      <li>
        <a class={kind} href={href}>
          {label}
        </a>
      </li>,
    )
  if (canWrite && isContainer(types)) add(texts().newDocument, '?form=new', 'button main')
  if (canWrite) add(texts().edit, '?form=edit')
  else if (modes.includes('Append')) add(texts().add, '?form=add')
  if (isVersioned) add(texts().history, '?timemap')
  add(texts().access, `${frame.site.base}access?this=${encodeURIComponent(document)}`)
  if (canWrite && !isRoot(document, frame.site.base)) add(texts().remove, '?form=delete', 'button grave')
  return (
    <nav aria-label={texts().actions}>
      <ul class="actions">{actions}</ul>
    </nav>
  )
}

/** The values of a document's property that its page shows nowhere else: the heading shows a title alone and whole. */
function notShownElsewhere({ predicate, objects }: DescribedProperty, heading: string): readonly Term[] {
  if (MANAGED.has(predicate)) return []
  if (predicate === RDF('type')) return objects.filter(({ termType }) => termType !== 'NamedNode')
  const isHeading =
    predicate === DCT('title') && objects.every((term) => isText(term) && visible(term.value) === heading)
  return isHeading && objects.length === 1 ? [] : objects
}

interface SubjectsProps {
  readonly described: Pick<DescribedSubjects, 'subjects'>
  readonly document: string
  readonly base: string
  /** The heading of the document's page, which shows some values elsewhere. Without it, all values are shown. */
  readonly heading?: string
  /** Shown if there are no triples. */
  readonly empty?: string | undefined
}

export function Subjects({ described: { subjects }, document, base, heading, empty }: SubjectsProps) {
  const shown = subjects.flatMap(({ subject, properties }) => {
    const all = properties.map((one) =>
      heading === undefined || subject.value !== document ? one : { ...one, objects: notShownElsewhere(one, heading) },
    )
    const left = all.filter(({ objects }) => objects.length > 0)
    return left.length === 0 ? [] : [{ subject, properties: left }]
  })
  if (shown.length === 0 && empty !== undefined) return <p class="soft">{empty}</p>
  return (
    <>
      {shown.map(({ subject, properties }) => (
        <section class="card subject" {...idOf(document, subject)}>
          {subject.value === document ? null : (
            <h2>
              <Value term={subject} base={base} />
            </h2>
          )}
          <FactsShown properties={properties} base={base} />
        </section>
      ))}
    </>
  )
}

/** Ids that the page itself uses. */
const OWN_IDS: ReadonlySet<string> = new Set(['main', 'about', 'children'])

/** The target of links such as `#this`. */
function idOf(document: string, { value }: Term): { readonly id?: string } {
  const fragment = value.startsWith(`${document}#`) ? value.slice(document.length + 1) : ''
  return /^[\w-]{1,100}$/.test(fragment) && !OWN_IDS.has(fragment) ? { id: fragment } : {}
}

export const FactsShown = ({
  properties,
  base,
}: {
  readonly properties: readonly DescribedProperty[]
  readonly base: string
}) => (
  <table class="facts">
    <tbody>
      {properties.map(({ predicate, objects }) => (
        <tr>
          <th scope="row">
            <NamedTerm iri={predicate} />
          </th>
          <td>
            <ul>
              {objects.map((term) => (
                <li>
                  {predicate === RDF('type') && term.termType === 'NamedNode' ? (
                    <NamedTerm iri={term.value} />
                  ) : (
                    <Value term={term} base={base} />
                  )}
                </li>
              ))}
            </ul>
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)

function Parts({ described: { part, hasMore } }: { readonly described: DescribedSubjects }) {
  if (part === 1 && !hasMore) return null
  return (
    <nav class="pager" aria-label={texts().parts}>
      <span>{texts().part(part)}</span>
      <ul>
        {part > 1 ? (
          <li>
            <a href="?part=1">{texts().firstPart}</a>
          </li>
        ) : null}
        {hasMore ? (
          <li>
            <a href={`?part=${part + 1}`}>{texts().nextPart}</a>
          </li>
        ) : null}
      </ul>
    </nav>
  )
}

const managed = () =>
  [
    [texts().created, DCT('created')],
    [texts().modified, DCT('modified')],
    [texts().creator, DCT('creator')],
    [texts().owner, ACL('owner')],
  ] as const

function About({ about, base }: { readonly about: DescribedSubject | undefined; readonly base: string }) {
  return (
    <section class="aside" aria-labelledby="about">
      <h2 id="about">{texts().about}</h2>
      <dl>
        {managed().map(([label, property]) => {
          const values = about ? valuesOf(about, property) : []
          if (values.length === 0) return null
          return (
            <>
              <dt>{label}</dt>
              {values.map((term) => (
                <dd>
                  {term.termType === 'NamedNode' ? (
                    <IriShown iri={term.value} base={base} />
                  ) : (
                    <Time value={term.value} />
                  )}
                </dd>
              ))}
            </>
          )
        })}
        <dt>{texts().formats}</dt>
        <dd>
          <Formats />
        </dd>
      </dl>
    </section>
  )
}

const FORMATS = [
  ['Turtle', TURTLE],
  ['N-Triples', N_TRIPLES],
  ['RDF/XML', RDF_XML],
  ['JSON-LD', JSON_LD],
] as const

/** @param more further parameters of the query */
export const Formats = ({ more = '' }: { readonly more?: string }) => (
  <>
    {FORMATS.map(([name, { mediaType }], i) => (
      <>
        {i === 0 ? '' : ' · '}
        <a href={`?${more}accept=${encodeURIComponent(mediaType)}`}>{name}</a>
      </>
    ))}
  </>
)

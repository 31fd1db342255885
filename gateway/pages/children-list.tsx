// In charge of the list of a container's children: a page of it, and the links to the other pages and orders.
import type { Child as ChildDocument, Order } from '../documents/children.js'
import { decoded, localName } from './labels.js'
import { Plain, Time } from './term.js'
import { TEXTS } from './texts.js'

/** A page of the children that the agent may read. */
export interface Children {
  readonly shown: readonly ChildDocument[]
  /** From 1. */
  readonly page: number
  readonly pages: number
  readonly all: number
  readonly order: Order
  /** True where the container has more than can be listed. */
  readonly isCut: boolean
  /** Names what is shown. */
  readonly digest: string
}

export const CHILDREN_PER_PAGE = 50

interface Props {
  readonly children: Children
  readonly document: string
  readonly base: string
}

export function ChildrenList({ children }: Props) {
  const { shown, order, all, isCut } = children
  return (
    <section aria-labelledby="children">
      <h2 id="children">{TEXTS.children}</h2>
      {all === 0 ? (
        <p class="soft">{TEXTS.noChildren}</p>
      ) : (
        <>
          <div class="card scroll">
            <table>
              <thead class="order">
                <tr>
                  <Column label={TEXTS.name} by="name" order={order} />
                  <th scope="col">{TEXTS.kind}</th>
                  <Column label={TEXTS.created} by="created" order={order} />
                  <Column label={TEXTS.modified} by="modified" order={order} />
                </tr>
              </thead>
              <tbody>
                {shown.map((child) => (
                  <Row child={child} />
                ))}
              </tbody>
            </table>
          </div>
          <Pager children={children} />
          {isCut ? <p class="hint">{TEXTS.tooManyChildren(all)}</p> : null}
        </>
      )}
    </section>
  )
}

const Column = ({ label, by, order }: { readonly label: string; readonly by: Order; readonly order: Order }) => (
  <th scope="col" {...(by === order && { 'aria-sort': by === 'name' ? 'ascending' : 'descending' })}>
    {by === order ? (
      <>
        {label} <span aria-hidden="true">{by === 'name' ? '▴' : '▾'}</span>
      </>
    ) : (
      <a href={`?order=${by}`}>{label}</a>
    )}
  </th>
)

const Row = ({ child: { iri, title, isContainer, created, modified } }: { readonly child: ChildDocument }) => (
  <tr>
    <td>
      <a href={iri}>
        <bdi>
          <Plain text={title ?? decoded(localName(iri))} />
        </bdi>
      </a>
    </td>
    <td data-label={TEXTS.kind}>{isContainer ? TEXTS.container : TEXTS.item}</td>
    <td class="date" data-label={TEXTS.created}>
      {created === undefined ? '' : <Time value={dateOf(created)} />}
    </td>
    <td class="date" data-label={TEXTS.modified}>
      {modified === undefined ? '' : <Time value={dateOf(modified)} />}
    </td>
  </tr>
)

const dateOf = (time: number): string => new Date(time).toISOString().replace(/\.\d+Z$/, 'Z')

function Pager({ children: { page, pages, all, order } }: { readonly children: Children }) {
  const from = (page - 1) * CHILDREN_PER_PAGE + 1
  const link = (to: number, label: string) => (
    <li>
      <a href={`?order=${order}&page=${to}`}>{label}</a>
    </li>
  )
  return (
    <nav class="pager" aria-label={TEXTS.pages}>
      <span>{TEXTS.range(from, Math.min(all, from + CHILDREN_PER_PAGE - 1), all)}</span>
      <ul>
        {page > 2 ? link(1, TEXTS.first) : null}
        {page > 1 ? link(page - 1, TEXTS.previous) : null}
        {page < pages ? link(page + 1, TEXTS.next) : null}
        {page < pages - 1 ? link(pages, TEXTS.last) : null}
      </ul>
    </nav>
  )
}

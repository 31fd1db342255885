// The list of a container's children: one page, and links to the other pages and orders.
import type { Child as ChildDocument, Order } from '../documents/children.js'
import { decoded, localName } from './labels.js'
import { Plain, Time } from './term.js'
import { texts } from './texts.js'

/** A page of the children that the agent may read. */
export interface Children {
  readonly shown: readonly ChildDocument[]
  /** From 1. */
  readonly page: number
  /** How many are known; `hasMore`: there are more, which have not been counted. */
  readonly all: number
  readonly hasMore: boolean
  /** By URL if there are too many for another order. */
  readonly order: Order | 'url'
  /** True if only the first children have been looked at. */
  readonly isCut: boolean
  /** Identifies what is shown. */
  readonly digest: string
}

export const CHILDREN_PER_PAGE = 50

interface Props {
  readonly children: Children
  readonly document: string
  readonly base: string
}

export function ChildrenList({ children }: Props) {
  const { shown, order, all, hasMore, isCut } = children
  return (
    <section aria-labelledby="children">
      <h2 id="children">{texts().children}</h2>
      {all === 0 && !hasMore ? (
        <p class="soft">{texts().noChildren}</p>
      ) : (
        <>
          <div class="card scroll">
            <table>
              <thead class="order">
                <tr>
                  <Column label={texts().name} by="name" order={order} />
                  <th scope="col">{texts().kind}</th>
                  <Column label={texts().created} by="created" order={order} />
                  <Column label={texts().modified} by="modified" order={order} />
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
          {order === 'url' ? <p class="hint">{texts().byAddress}</p> : null}
        </>
      )}
      {isCut ? <p class="hint">{texts().tooManyChildren(all)}</p> : null}
    </section>
  )
}

interface ColumnProps {
  readonly label: string
  readonly by: Order
  readonly order: Order | 'url'
}

const Column = ({ label, by, order }: ColumnProps) => (
  <th scope="col" {...(by === order && { 'aria-sort': by === 'name' ? 'ascending' : 'descending' })}>
    {by === order ? (
      <>
        {label} <span aria-hidden="true">{by === 'name' ? '▴' : '▾'}</span>
      </>
    ) : order === 'url' ? (
      label
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
    <td data-label={texts().kind}>{isContainer ? texts().container : texts().item}</td>
    <td class="date" data-label={texts().created}>
      {created === undefined ? '' : <Time value={dateOf(created)} />}
    </td>
    <td class="date" data-label={texts().modified}>
      {modified === undefined ? '' : <Time value={dateOf(modified)} />}
    </td>
  </tr>
)

const dateOf = (time: number): string => new Date(time).toISOString().replace(/\.\d+Z$/, 'Z')

function Pager({ children: { page, all, hasMore, order, shown } }: { readonly children: Children }) {
  const from = (page - 1) * CHILDREN_PER_PAGE + 1
  const pages = Math.ceil(all / CHILDREN_PER_PAGE)
  const link = (to: number, label: string) => (
    <li>
      <a href={`?${order === 'url' ? '' : `order=${order}&`}page=${to}`}>{label}</a>
    </li>
  )
  return (
    <nav class="pager" aria-label={texts().pages}>
      <span>{(hasMore ? texts().rangeOfMore : texts().range)(from, from + shown.length - 1, all)}</span>
      <ul>
        {page > 2 ? link(1, texts().first) : null}
        {page > 1 ? link(page - 1, texts().previous) : null}
        {page < pages || hasMore ? link(page + 1, texts().next) : null}
        {page < pages - 1 && !hasMore ? link(pages, texts().last) : null}
      </ul>
    </nav>
  )
}

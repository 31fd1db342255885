// The head of a table whose last column has buttons or links.
import { texts } from './texts.js'

interface Props {
  readonly columns: readonly string[]
  /** Numeric columns, which follow the others. */
  readonly numbers?: readonly string[]
}

export const TableHead = ({ columns, numbers = [] }: Props) => (
  <thead>
    <tr>
      {columns.map((name) => (
        <th scope="col">{name}</th>
      ))}
      {numbers.map((name) => (
        <th scope="col" class="number">
          {name}
        </th>
      ))}
      <th scope="col">
        <span class="hidden">{texts().actions}</span>
      </th>
    </tr>
  </thead>
)

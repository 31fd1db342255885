// The page behind a link that logs the owner in.
import { pageOf, type Frame } from '../../pages/frame.js'
import { worded } from '../../pages/texts.js'
import { texts } from './texts.js'

interface View {
  readonly frame: Frame
  readonly action: string
  readonly owner: string
}

export const ownerLogInPage = worded(({ frame, action, owner }: View): string =>
  pageOf(
    frame,
    texts().logIn,
    <>
      <h1>{texts().logIn}</h1>
      <p>{texts().ownerLogIn(owner)}</p>
      <p>{texts().ownerLogInOnce}</p>
      <form method="post" action={action}>
        <button class="main">{texts().logInAsOwner}</button>
      </form>
    </>,
  ),
)

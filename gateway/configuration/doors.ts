// Who may sign up and use the proxy if no setting says so: nobody, if the store was in use before the gateway. Pure.
import type { DescribedDataspace } from './dataspace.js'
import type { Settings } from './settings.js'

export type Doors = { readonly [Name in 'signUp' | 'proxy']: NonNullable<Settings[Name]> }

export function doorsOf({ signUp, proxy }: Settings, dataspaces: readonly DescribedDataspace[]): Doors {
  const isClosed = dataspaces.some(({ endUser }) => endUser.isClosed)
  return {
    signUp: signUp ?? (isClosed ? 'off' : 'everyone'),
    proxy: proxy ?? (isClosed ? 'off' : 'identified'),
  }
}

/** The folder of this package or bundle, and its version. */
import { type OwnPackage, packageOf } from '../support/process/own-package.ts'

let found: OwnPackage | undefined

function ownPackage(): OwnPackage {
  found ??= packageOf(import.meta.url, 'eventgrid-binding')
  return found
}

/** The version of this package, from its package.json. */
export const packageVersion = (): string => ownPackage().version

/** The folder with the package.json of this package. */
export const packageFolder = (): string => ownPackage().folder

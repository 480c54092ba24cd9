/** Whether the folder of the sockets is safe, by owner and mode of each folder on the way. */
import { lstatSync, realpathSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'

/** The owner and the mode of a folder, or of a symbolic link, on the way to the sockets. */
export interface PathStep extends Pick<Stats, 'uid' | 'mode'> {
  readonly path: string
  readonly link: boolean
}

const root = 0

/** Linux shows this owner for users that the process's user namespace does not know, such as the root of the host. */
const unmappedUid = 65_534

/**
 * Decides whether the way to a folder is trusted. The owner of a folder, or of a symbolic link, can replace what lies behind it: a socket too,
 * and the runtime then sends its secrets to that user.
 *
 * @param steps the folder first, then the folders above it and the symbolic links
 * @param uid the user of this process
 * @returns why the folder must not be used, `undefined` where it may be used; and warnings
 */
export function decideTrust(steps: readonly PathStep[], uid: number) {
  const trusted = (step: PathStep) => step.uid === root || step.uid === uid
  const unmapped = (step: PathStep) => step !== steps[0] && step.uid === unmappedUid
  const foreign = steps.find((step) => !trusted(step) && !unmapped(step))
  const refusal =
    foreign &&
    `user ${foreign.uid} owns ${foreign.path} and could replace the sockets; choose a folder that root or user ${uid} owns, ` +
      'with mode 0755 or 0700, by --sockets-folder or DAPR_COMPONENTS_SOCKETS_FOLDER, as for daprd'
  const warnings = steps
    .filter((step) => !step.link && (step.mode & 0o1002) === 0o002)
    .map(
      ({ path, mode }) =>
        `every user may replace files in ${path} (mode ${(mode & 0o7777).toString(8)}, no sticky bit). In a Kubernetes volume ` +
        'these are only the containers of the pod; elsewhere choose a folder with mode 0755 or 0700',
    )
  return { refusal, warnings }
}

export function pathSteps(folder: string): PathStep[] {
  const links = withParents(folder)
    .map(readStep)
    .filter(({ link }) => link)
  return [...withParents(realpathSync(folder)).map(readStep), ...links]
}

function readStep(path: string): PathStep {
  const stats = lstatSync(path)
  return { path, uid: stats.uid, mode: stats.mode, link: stats.isSymbolicLink() }
}

function withParents(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [path] : [path, ...withParents(parent)]
}

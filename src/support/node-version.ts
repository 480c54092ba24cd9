/** The oldest Node that this package runs on: `engines.node` of package.json, which a test compares. */
export const oldestNode = '22.18'

/** What to say to a Node that is too old; `undefined` where it is not. Needs nothing that an old Node lacks. */
export function complaintAboutNode(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [oldestMajor = 0, oldestMinor = 0] = oldestNode.split('.').map(Number)
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined
  return `eventgrid-binding needs Node ${oldestNode} or newer; this is v${version}`
}

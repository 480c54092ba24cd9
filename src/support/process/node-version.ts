/** The oldest Node that is supported, and what an older one is told. */

/** The oldest supported version of Node: `engines.node` of package.json, which a test compares. */
export const oldestNode = '22.18'

/**
 * The error message for a Node that is too old; `undefined` for a supported one. Runs on old versions too.
 *
 * @param program the URL of the file that runs: npm can bring a Node to a package in `node_modules`, not to the bundle
 * @param name of the package, where the file is not in a `node_modules`
 */
export function complaintAboutNode(version: string, program: string, name: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [oldestMajor = 0, oldestMinor = 0] = oldestNode.split('.').map(Number)
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined
  const [, installed] = /\/node_modules\/([^/]+)\//.exec(program) ?? []
  const remedy = installed
    ? `npm install node@24 adds a newer one to your project, and npx ${installed} takes it; for your own files: npx node FILE`
    : 'start it with a newer one: PATH/TO/NEWER/node FILE'
  return `${installed ?? name} needs Node ${oldestNode} or newer; this is v${version}. ${remedy}`
}

// Without this an old Node would start an emulator that fails later, over a function that it does not have.
const oldestNode = '22.18'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const [oldestMajor = 0, oldestMinor = 0] = oldestNode.split('.').map(Number)
if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
  throw new Error(`eventgrid-binding needs Node ${oldestNode} or newer; this is v${process.versions.node}`)
}

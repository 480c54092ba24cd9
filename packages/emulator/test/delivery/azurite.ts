import { beforeAll } from 'vitest'
import { spawnAzurite } from '../support/azurite-process.ts'

/** Has the tests of a file share a service of Azurite, which needs a second to start. Called once, at the top of the file. */
export function shareAzurite(service: 'blob' | 'queue' = 'blob') {
  const shared = { connectionString: '', address: '' }
  beforeAll(async () => {
    const { stop, ...addresses } = await spawnAzurite(service)
    Object.assign(shared, addresses)
    return stop
  })
  return shared
}

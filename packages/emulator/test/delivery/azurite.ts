import { onTestFinished } from 'vitest'
import { spawnAzurite } from '../support/azurite-process.ts'

/** Starts a service of Azurite as a process of its own, on a free port; the test's end stops it. Its connection string. */
export async function startAzurite(service: 'blob' | 'queue' = 'blob'): Promise<string> {
  const { connectionString, stop } = await spawnAzurite(service)
  onTestFinished(stop)
  return connectionString
}

/** Azurite, the emulator of Azure Storage, as a process. Also for who is no test of vitest. */
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The account and key that every Azurite has; they are printed in its documentation. */
export const azuriteAccount = 'devstoreaccount1'
export const azuriteKey = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='
/** A second account of each Azurite here, with the same key. */
export const otherAccount = 'archive'

const services = {
  blob: {
    script: import.meta.resolve('azurite/dist/src/blob/main.js'),
    host: '--blobHost',
    port: '--blobPort',
    endpoint: 'BlobEndpoint',
  },
  queue: {
    script: import.meta.resolve('azurite/dist/src/queue/main.js'),
    host: '--queueHost',
    port: '--queuePort',
    endpoint: 'QueueEndpoint',
  },
} as const

/** A certificate for 127.0.0.1 and its key, PEM. */
export interface AzuriteTls {
  readonly certificate: string
  readonly key: string
}

/**
 * Starts a service of Azurite as a process of its own, on a free port; ended by `stop`.
 *
 * @param tls has it serve https, and take tokens of Entra. @default http
 */
export async function spawnAzurite(service: 'blob' | 'queue' = 'blob', tls?: AzuriteTls) {
  const { script, host, port, endpoint } = services[service]
  const folder = await mkdtemp(join(tmpdir(), 'azurite-'))
  const options = [host, '127.0.0.1', port, '0', '--inMemoryPersistence']
  if (tls) {
    await writeFile(join(folder, 'cert.pem'), tls.certificate)
    await writeFile(join(folder, 'key.pem'), tls.key)
    options.push('--oauth', 'basic', '--cert', 'cert.pem', '--key', 'key.pem')
  }
  const azurite = spawn(
    process.execPath,
    [fileURLToPath(script), ...options, '--disableTelemetry', '--skipApiVersionCheck'],
    {
      cwd: folder,
      env: { ...process.env, AZURITE_ACCOUNTS: `${azuriteAccount}:${azuriteKey};${otherAccount}:${azuriteKey}` },
      // None of its streams is the worker's own: vitest waits for whoever holds these.
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  const ended = new Promise<void>((resolve) => azurite.once('exit', () => resolve()))
  const stop = async () => {
    azurite.kill('SIGKILL')
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  const address = await new Promise<string>((resolve, reject) => {
    let said = ''
    azurite.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      const url = /successfully listens on (https?:\/\/127\.0\.0\.1:\d+)/.exec(said)?.[1]
      if (url) resolve(url)
    })
    void ended.then(() => reject(new Error(`Azurite did not start: ${said}`)))
  })
  const connectionString = `DefaultEndpointsProtocol=${tls ? 'https' : 'http'};AccountName=${azuriteAccount};AccountKey=${azuriteKey};${endpoint}=${address}/${azuriteAccount};`
  return { connectionString, address, stop }
}

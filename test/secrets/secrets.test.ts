import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { marks } from './marks.ts'

interface Tour {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** Files that the process left, its own note of the delivery token apart. */
  readonly files: Readonly<Record<string, string>>
  /** The delivery token, which is made from the secrets and as secret as they are. */
  readonly token: string
}

function tour(environment: Readonly<Record<string, string>> = {}): Promise<Tour> {
  const folder = temporaryFolder()
  const script = join(import.meta.dirname, 'tour.ts')
  const options = {
    cwd: folder,
    env: { ...process.env, ...environment, TMPDIR: folder },
    maxBuffer: 1 << 28,
    timeout: 60_000,
  }
  return new Promise((done) => {
    const child = execFile(process.execPath, [script], options, (_error, stdout, stderr) => {
      const names = globSync('**/*', { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile())
      const files = Object.fromEntries(
        names.map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name), 'utf8')]),
      )
      const { 'token.txt': token = '', ...rest } = files
      done({ code: child.exitCode, stdout, stderr, files: rest, token })
    })
  })
}

/** Where secrets stand that must not. */
function leaks({ stdout, stderr, files, token }: Tour): string[] {
  const secrets = { ...marks, token, tokenPart: token.split('.')[1] ?? '' }
  const places = { stdout, stderr, ...files }
  return Object.entries(places).flatMap(([place, text]) =>
    Object.entries(secrets)
      .flatMap(([name, secret]) => [
        { name, form: secret },
        { name: `${name}, base64`, form: Buffer.from(secret).toString('base64') },
        { name: `${name}, in a URL`, form: encodeURIComponent(secret) },
      ])
      .filter(({ form }) => form !== '' && text.includes(form))
      .map(({ name }) => `${name} in ${place}`),
  )
}

it('prints, answers and writes no secret, whatever is done', async () => {
  const result = await tour()
  expect(leaks(result)).toEqual([])
  // The tour went all the way, and every refusal was one of ours.
  expect(result.stderr).not.toMatch(/^\s+at .*tour\.ts/m)
  expect(result.stdout).not.toContain('NOT A BINDING ERROR')
  expect(result.stdout).toContain('a closed binding')
  expect(result.token).toMatch(/^[^.]+\.[^.]{20,}$/)
  expect(result.code).toBe(0)
}, 60_000)

it('finds a leak that is planted', async () => {
  expect(leaks(await tour({ PLANT_A_LEAK: '1' }))).toContain('clientSecret in stderr')
}, 60_000)

// Options by the environment, the address to listen on, the certificate authority for Java, and PEM text in the place of a file.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import type { EmulatorEnvironment } from '../../src/index.ts'
import { startProgram } from '../support/program.ts'
import { configFile, startEmulate } from './emulate-command.ts'

const environmentOf = async (proxy: string) =>
  (await (await fetch(`${proxy}/emulator/environment`)).json()) as EmulatorEnvironment

it('takes options from the environment, and those of the command line before them', async () => {
  const file = join(temporaryFolder(), 'ready.json')
  const emulate = await startEmulate(['--deliver', 'orders=http://127.0.0.1:1/hook'], {
    EVENTGRID_EMULATOR_READY_FILE: file,
    EVENTGRID_EMULATOR_MANUAL_CLOCK: 'true',
    EVENTGRID_EMULATOR_QUIET: 'false',
    EVENTGRID_EMULATOR_DELIVER: 'parcels=http://127.0.0.1:1/hook',
    EVENTGRID_EMULATOR_INGRESS: 'https://a.example.com/=http://127.0.0.1:1/ https://b.example.com/=http://127.0.0.1:1/',
    EVENTGRID_EMULATOR_STATE: '',
    // As Kubernetes has it for a service of the emulator's name.
    EVENTGRID_EMULATOR_HOST: 'tcp://10.0.0.1:4430',
    EVENTGRID_EMULATOR_PORT_4430_TCP: 'tcp://10.0.0.1:4430',
  })
  const ready: EmulatorEnvironment = JSON.parse(readFileSync(file, 'utf8'))
  expect([ready.clock, ready.topics.map(({ name }) => name)]).toEqual(['manual', ['orders']])
  expect((await environmentOf(emulate.proxy)).http).toBe(ready.http)
})

it.each([
  { variable: 'EVENTGRID_EMULATOR_PORT', value: 'https', says: /--port takes a number from 0 to 65535, not "https"/ },
  {
    variable: 'EVENTGRID_EMULATOR_QUIET',
    value: 'yes',
    says: /EVENTGRID_EMULATOR_QUIET takes true or false, not "yes"/,
  },
])('refuses $variable=$value', async ({ variable, value, says }) => {
  const program = startProgram(['--http-port', '0'], { [variable]: value })
  expect([await program.ended, program.lines.join('\n')]).toEqual([2, expect.stringMatching(says)])
})

it('listens where --host says, and refuses an address that this machine has not', async () => {
  const emulate = await startEmulate(['--host', '127.0.0.2'])
  expect(emulate.proxy).toMatch(/^http:\/\/127\.0\.0\.2:/)
  expect((await environmentOf(emulate.proxy)).http).toBe(emulate.proxy)
  const program = startProgram(['--port', '0', '--http-port', '0', '--host', '192.0.2.1'])
  expect(await program.ended).toBe(2)
  expect(program.lines.join('\n')).toContain('192.0.2.1 is no address of this machine; choose another by --host')
})

it('writes the certificate authority as PKCS#12 too, for Java, also where a space is in its path', async () => {
  const folder = join(temporaryFolder(), 'with a space')
  const emulate = await startEmulate(['--env', 'java'], { TMPDIR: temporaryFolder() })
  const { languages, pkcs12File = '', pkcs12, caFile = '' } = await environmentOf(emulate.proxy)
  expect([caFile.endsWith('ca.pem'), pkcs12File.endsWith('ca.p12')]).toEqual([true, true])
  expect(readFileSync(pkcs12File).toString('base64')).toBe(pkcs12)
  expect(languages.java.variables.JAVA_TOOL_OPTIONS).toBe(
    `-Djavax.net.ssl.trustStore=${pkcs12File} -Djavax.net.ssl.trustStorePassword=changeit`,
  )
  emulate.process.kill('SIGTERM')
  expect(await emulate.ended).toBe(0)
  expect(existsSync(pkcs12File)).toBe(false)
  mkdirSync(folder)
  const file = join(folder, 'ca.p12')
  for (const _time of ['first', 'second']) {
    const named = await startEmulate(['--ca', file, '--ca', join(folder, 'ca.pem'), '--env', 'java'])
    const told = (await environmentOf(named.proxy)).languages.java.variables.JAVA_TOOL_OPTIONS
    expect(told).toBe(`-Djavax.net.ssl.trustStore="${file}" -Djavax.net.ssl.trustStorePassword=changeit`)
    named.process.kill('SIGTERM')
    expect(await named.ended).toBe(0)
    expect(readFileSync(join(folder, 'ca.pem'), 'utf8')).toContain('BEGIN CERTIFICATE')
  }
  writeFileSync(file, Buffer.concat([readFileSync(file), Buffer.from('mine')]))
  const other = startProgram(['--port', '0', '--http-port', '0', '--ca', file])
  expect([await other.ended, other.lines.join('\n')]).toEqual([2, expect.stringContaining('is not overwritten')])
})

const keytool = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'keytool'))
  .find(existsSync)

it.skipIf(keytool === undefined)('Java trusts the certificate of that store (skipped without a Java)', async () => {
  const file = join(temporaryFolder(), 'ca.p12')
  await startEmulate(['--ca', file])
  const args = ['-list', '-keystore', file, '-storepass', 'changeit']
  const { stdout } = await promisify(execFile)(keytool ?? '', args, { env: { ...process.env, JAVA_TOOL_OPTIONS: '' } })
  expect(stdout).toMatch(/PKCS12[\s\S]*1 entry[\s\S]*eventgrid-emulator, .*, trustedCertEntry/)
})

const secret = '-----BEGIN PRIVATE KEY-----\nMIIs3cretkeys3cretkey\n-----END PRIVATE KEY-----\n'

it.each(['--ca', '--config', '--state', '--ready-file', '--ingress', '--port'])(
  'does not print PEM text that %s is given',
  async (option) => {
    const program = startProgram(['--http-port', '0', `${option}=${secret}`])
    expect(await program.ended).toBe(2)
    expect(program.lines.join('\n')).toContain(`${option} takes no PEM text: where a file is meant, give its path`)
    expect(program.lines.join('\n')).not.toContain('MIIs3cret')
  },
)

it.each(['trustedCertificates:\n  - |\n', 'state: |\n', 'trustedCertificates: &key\n  - |\n'])(
  'nor what the configuration has in %j',
  async (field) => {
    const indented = secret.replace(/^(?=.)/gm, '    ')
    const program = startProgram(['--port', '0', '--http-port', '0', '--config', configFile(`${field}${indented}`)])
    expect(await program.ended).toBe(2)
    expect(program.lines.join('\n')).toContain('must be the path of a file, not its text')
    expect(program.lines.join('\n')).not.toContain('MIIs3cret')
  },
)

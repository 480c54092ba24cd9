import 'reflect-metadata'
import { generateKeyPairSync } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { X509CertificateGenerator } from '@peculiar/x509'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { writeAuthorityFile } from '../../src/cli/own-files.ts'
import { createCertificateAuthority } from '../../src/server/tls/certificates.ts'
import { startEmulate } from './emulate-command.ts'

const { certificate } = createCertificateAuthority()
const earlier = createCertificateAuthority()
const { privateKey } = generateKeyPairSync('ed25519')
const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

/** The certificate of a company's own authority. */
async function companyAuthority(): Promise<string> {
  const keys = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
  const made = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=Company CA',
    keys,
    signingAlgorithm: algorithm,
  })
  return made.toString('pem')
}

it.each([
  { name: 'an earlier certificate', text: earlier.certificate },
  { name: 'its own certificate', text: certificate },
  { name: 'an earlier certificate with other line ends', text: earlier.certificate.replaceAll('\n', '\r\n') },
  { name: 'nothing, as mktemp makes it', text: '' },
])('overwrites a file that holds $name', ({ text }) => {
  const folder = temporaryFolder()
  const file = join(folder, 'ca.pem')
  writeFileSync(file, text)
  writeAuthorityFile(file, certificate)
  expect([readFileSync(file, 'utf8'), readdirSync(folder)]).toEqual([certificate, ['ca.pem']])
})

it('writes a file in place that can be written and not replaced, as one that is mounted', () => {
  // No other file beside it can have its name and more.
  const file = join(temporaryFolder(), `${'a'.repeat(250)}.pem`)
  writeFileSync(file, '')
  writeAuthorityFile(file, certificate)
  expect(readFileSync(file, 'utf8')).toBe(certificate)
})

it.each([
  { name: 'text', text: 'months of notes\n' },
  { name: 'bytes', text: Buffer.from([0, 1, 2, 255]) },
  { name: 'a private key', text: key },
  { name: 'a private key beside the certificate', text: `${earlier.certificate}${key}` },
  { name: 'a bundle', text: `${earlier.certificate}${earlier.certificate}` },
  { name: 'a certificate with notes', text: `# mine\n${earlier.certificate}` },
  {
    name: 'what only looks like a certificate',
    text: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
  },
  { name: 'the certificate of another authority', text: companyAuthority },
  { name: 'a server certificate', text: earlier.issue(['localhost']).certificate },
])('leaves a file alone that holds $name', async ({ text }) => {
  const folder = temporaryFolder()
  const file = join(folder, 'ca.pem')
  const before = Buffer.from(typeof text === 'function' ? await text() : text)
  writeFileSync(file, before)
  const link = join(folder, 'link.pem')
  symlinkSync('ca.pem', link)
  for (const path of [file, link, file]) {
    expect(() => writeAuthorityFile(path, certificate)).toThrow('is not overwritten')
  }
  expect([readFileSync(file), readdirSync(folder)]).toEqual([before, ['ca.pem', 'link.pem']])
})

it('writes through a link to an earlier certificate, and not through one that leads nowhere or to a folder', () => {
  const folder = temporaryFolder()
  const [file, link, dangling, odd] = ['ca.pem', 'link.pem', 'dangling.pem', 'odd.pem'].map((name) =>
    join(folder, name),
  )
  if (!file || !link || !dangling || !odd) throw new Error('four names')
  writeFileSync(file, earlier.certificate)
  symlinkSync('ca.pem', link)
  writeAuthorityFile(link, certificate)
  expect([readFileSync(file, 'utf8'), lstatSync(link).isSymbolicLink()]).toEqual([certificate, true])
  symlinkSync('none.pem', dangling)
  expect(() => writeAuthorityFile(dangling, certificate)).toThrow('ENOENT')
  expect(existsSync(join(folder, 'none.pem'))).toBe(false)
  mkdirSync(join(folder, 'sub'))
  symlinkSync('sub', odd)
  expect(() => writeAuthorityFile(odd, certificate)).toThrow('is not a regular file')
})

it('starts no emulator where --ca names a file of the user, also the second time, and says what to do', async () => {
  const file = join(temporaryFolder(), 'ca.pem')
  writeFileSync(file, key)
  for (const _time of ['first', 'second']) {
    await expect(startEmulate(['--ca', file])).rejects.toThrow(
      /it ended \(2\)[\s\S]*--ca: .*ca\.pem holds something else than the certificate of an emulator, and is not overwritten; name/,
    )
  }
  expect(readFileSync(file, 'utf8')).toBe(key)
})

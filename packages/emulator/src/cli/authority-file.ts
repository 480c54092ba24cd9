// `emulate --ca FILE`: what may be overwritten (an emulator's certificate, an empty file), and writing it in one step.
import { randomUUID, X509Certificate } from 'node:crypto'
import { existsSync, lstatSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { readRegularBytesSync } from '../../../../src/support/files/regular-file.ts'

/**
 * Writes a certificate (PEM) into a file. Other commands read the file of their `--ca`, so a user may name one that is dear to him: only
 * an empty file and a certificate of the same subject are overwritten. Throws an Error for any other file, and as Node does.
 */
export function writeAuthorityFile(file: string, certificate: string): void {
  const isThere = lstatSync(file, { throwIfNoEntry: false }) !== undefined
  // Through a link the file itself is replaced, not the link.
  const target = isThere ? realpathSync(file) : file
  // Opening a named pipe waits for a reader, perhaps for ever.
  if (isThere && !statSync(target).isFile()) throw new Error(`${file} is not a regular file`)
  if (isThere && !mayBeReplaced(readRegularBytesSync(target, maxBytes).toString(), certificate)) {
    throw new Error(`${file} holds something else than the certificate of an emulator, and is not overwritten`)
  }
  const fresh = `${target}.${randomUUID()}.tmp`
  try {
    writeFileSync(fresh, certificate, { flag: 'wx' })
    renameSync(fresh, target)
  } catch (error) {
    if (existsSync(fresh)) rmSync(fresh)
    // A file that is mounted into a container, or whose folder is of another user, can be written but not replaced.
    if (!isThere) throw error
    writeFileSync(target, certificate)
  }
}

const maxBytes = 16 * 1024 * 1024

/** One certificate and nothing else: no bundle, and no key beside it. */
const onlyCertificate = /^-----BEGIN CERTIFICATE-----[A-Za-z\d+/=\s]+-----END CERTIFICATE-----$/

function mayBeReplaced(text: string, certificate: string): boolean {
  const present = text.trim()
  if (present === '') return true
  if (!onlyCertificate.test(present)) return false
  try {
    return new X509Certificate(present).subject === new X509Certificate(certificate).subject
  } catch {
    return false
  }
}

import { X509Certificate } from 'node:crypto'
import { expect, it } from 'vitest'
import { createCertificateAuthority, derInteger, derObjectId, derTime } from '../../src/server/tls/certificates.ts'

it('issues certificates for names and addresses that its own certificate verifies', () => {
  const authority = createCertificateAuthority()
  const issuer = new X509Certificate(authority.certificate)
  const leaf = new X509Certificate(
    authority.issue(['localhost', '127.0.0.1', '::1', '*.eventgrid.azure.net']).certificate,
  )
  expect(issuer.ca).toBe(true)
  expect(leaf.ca).toBe(false)
  expect(leaf.checkIssued(issuer)).toBe(true)
  expect(leaf.verify(issuer.publicKey)).toBe(true)
  expect(leaf.checkHost('localhost')).toBe('localhost')
  expect(leaf.checkHost('orders.eventgrid.azure.net')).toBeDefined()
  expect(leaf.checkHost('example.com')).toBeUndefined()
  expect(leaf.checkIP('127.0.0.1')).toBe('127.0.0.1')
  expect(leaf.checkIP('::1')).toBe('::1')
  expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
  expect(new Date(leaf.validFrom).getTime()).toBeLessThan(Date.now())
  expect(new Date(leaf.validTo).getTime()).toBeGreaterThan(Date.now() + 365 * 86_400_000)
})

it('keeps the contexts of a thousand host names: clients choose the names', () => {
  const authority = createCertificateAuthority()
  const first = authority.contextFor('0.example')
  for (let index = 1; index < 1000; index++) authority.contextFor(`${index}.example`)
  expect(authority.contextFor('0.example')).toBe(first)
  authority.contextFor('1000.example')
  expect(authority.contextFor('0.example')).not.toBe(first)
})

it.each([
  { name: 'an object id with long arcs', made: derObjectId('1.2.840.10045.4.3.2'), hex: '06082a8648ce3d040302' },
  { name: 'a small integer', made: derInteger(Buffer.from([2])), hex: '020102' },
  { name: 'an integer whose top bit is set', made: derInteger(Buffer.from([0x80])), hex: '02020080' },
  {
    name: 'a time until 2049',
    made: derTime(new Date('2049-12-31T23:59:59Z')),
    hex: `170d${Buffer.from('491231235959Z').toString('hex')}`,
  },
  {
    name: 'a time from 2050',
    made: derTime(new Date('2050-01-01T00:00:00Z')),
    hex: `180f${Buffer.from('20500101000000Z').toString('hex')}`,
  },
])('encodes $name', ({ made, hex }) => {
  expect(made.toString('hex')).toBe(hex)
})

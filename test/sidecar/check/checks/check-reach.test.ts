import { expect, it } from 'vitest'
import { addressKind } from '../../../../src/sidecar/check/checks/check-reach.ts'

it.each([
  ['127.0.0.1', 'loopback'],
  ['::1', 'loopback'],
  ['10.1.2.3', 'private'],
  ['172.31.0.1', 'private'],
  ['172.32.0.1', 'public'],
  ['100.64.0.1', 'private'],
  ['fd00::1', 'private'],
  ['fe80::1', 'private'],
  ['20.50.1.2', 'public'],
  ['2603:1020::1', 'public'],
])('knows that %s is %s', (address, kind) => expect(addressKind(address)).toBe(kind))

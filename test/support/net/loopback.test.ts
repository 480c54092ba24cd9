import { expect, it } from 'vitest'
import { isLoopback } from '../../../src/support/net/hosts.ts'

it.each(['localhost', 'LocalHost', 'orders.localhost', '127.0.0.1', '127.8.9.10', '::1', '[::1]'])(
  'takes %s for this machine',
  (host) => expect(isLoopback(host)).toBe(true),
)

it.each(['', 'localhost.example.com', '127.0.0.1.example.com', '10.0.0.1', '0.0.0.0', '::', '127.', 'example.com'])(
  'takes %j for another machine',
  (host) => expect(isLoopback(host)).toBe(false),
)

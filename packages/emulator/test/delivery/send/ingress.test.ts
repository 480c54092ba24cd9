import { describe, expect, it } from 'vitest'
import { ingressOf, isIngressUrl } from '../../../src/delivery/send/ingress.ts'

describe('an ingress map', () => {
  const map = ingressOf([
    { from: 'https://shop.example.com/orders', to: 'http://127.0.0.1:9000/api' },
    { from: 'https://shop.example.com/', to: 'http://127.0.0.1:9001/' },
  ])
  it.each([
    { from: 'https://shop.example.com/orders', to: 'http://127.0.0.1:9000/api' },
    { from: 'https://shop.example.com/orders/1?code=x', to: 'http://127.0.0.1:9000/api/1?code=x' },
    { from: 'https://shop.example.com/ordersx', to: 'http://127.0.0.1:9001/ordersx' },
    { from: 'https://shop.example.com/?a=b', to: 'http://127.0.0.1:9001/?a=b' },
    { from: 'https://other.example.com/orders', to: undefined },
    { from: 'http://shop.example.com/orders', to: undefined },
    { from: 'https://shop.example.com/', to: 'http://127.0.0.1:9001/' },
    { from: 'https://shop.example.com/orders/', to: 'http://127.0.0.1:9000/api/' },
  ])('sends $from to $to', ({ from, to }) => {
    expect(map(new URL(from))).toBe(to)
  })
})

it.each([
  ['https://a.example/in/', 'http://127.0.0.1:1/out/', 'https://a.example/in', 'http://127.0.0.1:1/out'],
  ['https://a.example/in/', 'http://127.0.0.1:1/out/', 'https://a.example/in/1', 'http://127.0.0.1:1/out/1'],
  ['https://a.example/', 'http://127.0.0.1:1/out', 'https://a.example/', 'http://127.0.0.1:1/out/'],
])('a rule from %s to %s sends %s to %s', (from, to, url, leads) => {
  expect(ingressOf([{ from, to }])(new URL(url))).toBe(leads)
})

it.each([
  ['https://a.example', true],
  ['HTTP://a.example/', true],
  ['ftp://a.example/', false],
  ['http:///a', false],
  ['http://a b', false],
  ['see http://a.example', false],
  [5, false],
])('%j as a URL of a rule: %s', (value, is) => expect(isIngressUrl(value)).toBe(is))

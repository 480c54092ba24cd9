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
  {
    from: 'https://a.example/in/',
    to: 'http://127.0.0.1:1/out/',
    url: 'https://a.example/in',
    leads: 'http://127.0.0.1:1/out',
  },
  {
    from: 'https://a.example/in/',
    to: 'http://127.0.0.1:1/out/',
    url: 'https://a.example/in/1',
    leads: 'http://127.0.0.1:1/out/1',
  },
  {
    from: 'https://a.example/',
    to: 'http://127.0.0.1:1/out',
    url: 'https://a.example/',
    leads: 'http://127.0.0.1:1/out/',
  },
])('a rule from $from to $to sends $url to $leads', ({ from, to, url, leads }) => {
  expect(ingressOf([{ from, to }])(new URL(url))).toBe(leads)
})

it('may be a function, which is taken as it is', () => {
  const ingress = () => 'http://127.0.0.1:1/'
  expect(ingressOf(ingress)).toBe(ingress)
})

it.each([
  { what: 'no list', rules: {}, says: 'a list of rules or a function' },
  {
    what: 'a rule without a URL',
    rules: [{ from: 'a.example', to: 'http://127.0.0.1/' }],
    says: 'its from is not a URL',
  },
  { what: 'a rule that leads nowhere', rules: [{ from: 'http://a.example', to: 5 }], says: 'its to is not a URL' },
])('refuses $what', ({ rules, says }) => {
  // As JavaScript may call it.
  expect(() => ingressOf(rules as never)).toThrow(
    expect.objectContaining({ name: 'TypeError', message: expect.stringContaining(says) }),
  )
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

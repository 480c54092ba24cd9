import { expect, it } from 'vitest'
import { soleValue } from '../../src/listener/request.ts'

it.each<{ header: string | string[] | undefined; sole: string | undefined }>([
  { header: undefined, sole: undefined },
  { header: ['a'], sole: undefined },
  { header: '', sole: '' },
  { header: ' Orders ', sole: 'Orders' },
  { header: 'Orders, orders ,ORDERS', sole: 'Orders' },
  { header: 'orders,orders,', sole: undefined },
  { header: 'orders,invoices', sole: undefined },
  { header: 'orders,orders,invoices', sole: undefined },
])('of $header is $sole', ({ header, sole }) => {
  expect(soleValue(header)).toBe(sole)
})

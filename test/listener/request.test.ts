import { expect, it } from 'vitest'
import { refuseRepresentation, soleValue } from '../../src/listener/request.ts'

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

it.each<{ type: string; accepted: boolean }>([
  { type: 'application/json', accepted: true },
  { type: 'application/json; charset=utf-8', accepted: true },
  { type: 'application/json;charset=utf-8', accepted: true },
  { type: ' application/json ; charset = "UTF-8" ', accepted: true },
  { type: 'application/json; charset=utf8', accepted: true },
  { type: 'application/json; version=1; charset=UTF-8', accepted: true },
  { type: 'application/json; xcharset=latin1', accepted: true },
  { type: 'application/json;charset=latin1', accepted: false },
  { type: 'application/json; charset =latin1', accepted: false },
  { type: 'application/json; charset=xutf-8', accepted: false },
  { type: 'application/json; charset=utf-8x', accepted: false },
  { type: 'application/json; charset="utf-8', accepted: false },
  { type: 'application/json; charset=utf-8; charset=latin1', accepted: false },
])('a body of type $type is accepted: $accepted', ({ type, accepted }) => {
  expect(refuseRepresentation({ 'content-type': type })).toBe(accepted ? undefined : 'The charset must be UTF-8.')
})

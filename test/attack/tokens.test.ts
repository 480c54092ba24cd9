import { describe, expect, it } from 'vitest'
import { expectNoEffect, openTarget, type Target, tokenHeader, tokenOf, useEmulator } from './target.ts'

const world = useEmulator()
const other = '/subscriptions/00000000-0000-0000-0000-000000000009'

describe('a delivery with', () => {
  it.each<{ name: string; token: (target: Target) => string | undefined; ours: number; others: number }>([
    { name: 'no token', token: () => undefined, ours: 503, others: 401 },
    { name: 'a token made up', token: () => `${'0'.repeat(16)}.${'A'.repeat(43)}`, ours: 503, others: 401 },
    { name: 'the key id and a wrong token', token: (to) => wrongEnd(own(to)), ours: 401, others: 401 },
    { name: 'the token cut short', token: (to) => own(to).slice(0, -1), ours: 401, others: 401 },
    { name: 'the key id alone', token: (to) => own(to).slice(0, 17), ours: 401, others: 401 },
    { name: 'the token without its key id', token: (to) => own(to).slice(17), ours: 503, others: 401 },
    { name: 'the token with more behind it', token: (to) => `${own(to)}A`, ours: 401, others: 401 },
    {
      name: 'a list of strange credentials',
      token: (to) => `${'x,'.repeat(1_000)}${own(to)}`,
      ours: 503,
      others: 401,
    },
    { name: 'the token of another scope', token: (to) => tokenOf(to.clientSecret, other), ours: 503, others: 401 },
    {
      name: 'the token of another event subscription',
      token: (to) => tokenOf(to.clientSecret, to.scope, 'invoices'),
      ours: 503,
      others: 401,
    },
    { name: 'the client secret itself', token: (to) => to.clientSecret, ours: 503, others: 401 },
  ])('$name is $ours in our name and $others in another', async ({ token, ours, others }) => {
    const target = await openTarget(world())
    const presented = token(target)
    const headers = presented === undefined ? {} : { [tokenHeader]: presented }
    const answer = await target.post({ ...headers, 'aeg-subscription-name': 'INVOICES' })
    expect(answer.status).toBe(others)
    expectNoEffect(target, presented === undefined ? [] : [presented])
    expect((await target.post(headers)).status).toBe(ours)
    expect(target.handled).toEqual([])
    expect(target.log.text()).not.toContain(own(target))
  })

  it('a token replayed after rotation is put off, for a replica may still send it, and never handled', async () => {
    const fields = { deliveryToken: 'first marked token of thirty-two characters' }
    const before = await openTarget(world(), { fields })
    const old = tokenOf(fields.deliveryToken, before.scope)
    expect((await before.post({ [tokenHeader]: old })).status).toBe(200)
    await before.binding.close()
    const target = await openTarget(world(), { fields: { deliveryToken: 'second marked token, as long as the first' } })
    expect((await target.post({ [tokenHeader]: old, 'aeg-subscription-name': 'OTHERS' })).status).toBe(401)
    expectNoEffect(target, [old])
    expect((await target.post({ [tokenHeader]: old })).status).toBe(503)
    expect(target.handled).toEqual([])
  })

  it('a wrong token six hundred times takes one line of the log', async () => {
    const target = await openTarget(world())
    const wrong = wrongEnd(own(target))
    for (let round = 0; round < 30; round++) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => target.post({ [tokenHeader]: wrong })))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]))
    }
    expectNoEffect(target, [wrong])
  })
})

const own = ({ clientSecret, scope }: Target) => tokenOf(clientSecret, scope)

const wrongEnd = (token: string) => `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`

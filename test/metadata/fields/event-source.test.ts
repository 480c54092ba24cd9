import { describe, expect, it } from 'vitest'
import { BrokenRule } from '../../../src/metadata/fields/faults.ts'
import { parseEventSource } from '../../../src/metadata/fields/scope.ts'

const own = '/subscriptions/s1/resourceGroups/rg1/providers/Microsoft.EventGrid'

describe('a scope', () => {
  it.each(['topics/a', 'domains/a', 'domains/a/topics/b', 'systemTopics/a', 'partnerTopics/a', 'namespaces/a'])(
    'may be %s of Event Grid',
    (path) => expect(parseEventSource(`${own}/${path}`).id).toBe(`${own}/${path}`),
  )

  it('may be any resource of another provider', () => {
    const id = '/subscriptions/s1/resourceGroups/rg1/providers/Contoso.Things/partnerNamespaces/a/channels/b'
    expect(parseEventSource(id).id).toBe(id)
  })

  it.each([
    ['systemTopics/a/eventSubscriptions/b', /not the event subscription/, /eventSubscriptionName/],
    ['namespaces/a/topics/b', /namespace topic/, /deliveryMode to pull/],
    ['partnerNamespaces/a', /has no event subscriptions/, /systemTopics/],
    ['topics/a/topics/b', /has no event subscriptions/, /domains/],
  ])('is refused where it is %s, with the form that is wanted', (path, rule, fix) => {
    const refused = () => parseEventSource(`${own}/${path}`)
    expect(refused).toThrow(BrokenRule)
    const said = { rule: expect.stringMatching(rule), fix: expect.stringMatching(fix) }
    expect(refused).toThrow(expect.objectContaining(said))
  })
})

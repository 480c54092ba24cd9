import { describe, expect, it } from 'vitest'
import { BrokenRule } from '../../src/metadata/fields/broken-rule.ts'
import { parseEventSource } from '../../src/metadata/fields/scope.ts'

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
    {
      name: 'an event subscription of a system topic',
      path: 'systemTopics/a/eventSubscriptions/b',
      rule: /not the event subscription/,
      fix: /eventSubscriptionName/,
    },
    { name: 'a namespace topic', path: 'namespaces/a/topics/b', rule: /namespace topic/, fix: /deliveryMode to pull/ },
    {
      name: 'a partner namespace',
      path: 'partnerNamespaces/a',
      rule: /has no event subscriptions/,
      fix: /systemTopics/,
    },
    {
      name: 'a child of a custom topic',
      path: 'topics/a/topics/b',
      rule: /has no event subscriptions/,
      fix: /domains/,
    },
  ])('is refused where it is $name, with the form that is wanted', ({ path, rule, fix }) => {
    const refused = () => parseEventSource(`${own}/${path}`)
    expect(refused).toThrow(BrokenRule)
    expect(refused).toThrow(
      expect.objectContaining({
        rule: expect.stringMatching(rule),
        fix: expect.stringMatching(fix),
      }),
    )
  })
})

// What the lists of topics, event subscriptions and queues show.
import {
  byId,
  countOf,
  dayAndTimeOf,
  descriptionList,
  element,
  lastPart,
  postButton,
  postJson,
  schemaNames,
  timeOf,
} from './elements.js'
import { heldUntil, toneOf } from './fates.js'

/** The lists of topics, event subscriptions and queues. */
export function createResourceLists() {
  const topics = createList('topics', 'No topics.', fillTopic)
  const subscriptions = createList(
    'subscriptions',
    'None yet. Create one through Azure Resource Manager.',
    fillSubscription,
  )
  const queues = createList('queues', '', fillQueue)
  return {
    update({
      topics: published,
      systemTopics,
      namespaceTopics,
      subscriptions: newSubscriptions,
      queues: newQueues,
      more,
    }) {
      heldUntil.clear()
      for (const { id, heldUntil: until } of newSubscriptions)
        if (until !== undefined) heldUntil.set(id.toLowerCase(), until)
      const newTopics = [...published, ...systemTopics, ...namespaceTopics]
      queues.update(newQueues, more.queues)
      byId('queues-panel').hidden = newQueues.length === 0
      byId('queue-count').textContent = String(newQueues.length + more.queues)
      topics.update(newTopics, more.topics)
      subscriptions.update(newSubscriptions, more.subscriptions)
      byId('topic-count').textContent = String(newTopics.length + more.topics)
      byId('subscription-count').textContent = String(newSubscriptions.length + more.subscriptions)
    },
  }
}

/** A list whose entries keep what the reader opened and where the focus is: only changed entries are filled again. */
function createList(id, emptyText, fill) {
  const list = byId(id)
  const entries = new Map()
  return {
    update(resources, more) {
      const kept = new Set(resources.map((one) => one.id))
      for (const entry of entries.keys()) if (!kept.has(entry)) entries.delete(entry)
      const items = resources.map((resource) => {
        const text = JSON.stringify(resource)
        const entry = entries.get(resource.id) ?? newEntry()
        entries.set(resource.id, entry)
        if (entry.text !== text) fill(resource, entry)
        entry.text = text
        return entry.item
      })
      const isSame =
        items.length === list.children.length && items.every((item, index) => item === list.children[index])
      if (!isSame || items.length === 0) list.replaceChildren(...items)
      if (items.length === 0) list.append(element('li', { class: 'quiet padded' }, emptyText))
      if (more > 0) list.append(element('li', { class: 'quiet padded' }, `and ${more} more`))
    },
  }
}

function newEntry() {
  const summary = element('summary')
  const content = element('div', { class: 'padded' })
  const item = element('li', {}, element('details', {}, summary, content))
  return { item, summary, content, text: '' }
}

function fillTopic(topic, { summary, content }) {
  summary.replaceChildren(element('b', {}, topic.name), ' ', element('span', { class: 'quiet' }, kindOf(topic)))
  content.replaceChildren(
    descriptionList([
      ['HTTPS', topic.endpoint],
      ['HTTP', topic.httpEndpoint],
      ['Source', topic.source],
      ['Scope', topic.id],
      ['Access', accessOf(topic)],
      ['Topics', topic.domainTopics && (topic.domainTopics.join(', ') || 'none')],
    ]),
  )
}

function kindOf({ source, schema, domainTopics }) {
  if (source !== undefined) return 'system topic'
  if (schema === undefined) return 'namespace topic'
  return domainTopics ? `domain, ${schemaNames[schema]}` : schemaNames[schema]
}

function accessOf({ keys }) {
  if (keys === undefined) return undefined
  return keys ? 'keys, SAS and Entra tokens' : 'Entra tokens only'
}

function fillQueue({ id, name, topic, available, locked, delayed, deadLettered }, { summary, content }) {
  summary.replaceChildren(
    element('b', {}, name),
    ' ',
    element('span', { class: 'quiet where' }, `${topic} · ${countOf(available)} available, ${countOf(locked)} locked`),
  )
  content.replaceChildren(
    descriptionList([
      ['Available', available],
      ['Locked', locked],
      ['Delayed', delayed],
      ['Dead-lettered', deadLettered],
    ]),
    ...(available + locked + delayed > 0 ? [contents(id)] : []),
  )
}

/** Shows the oldest events of a queue on demand; they stay there. */
function contents(id) {
  const list = element('ul', { class: 'quiet' })
  const button = element('button', { type: 'button' }, 'Look inside')
  button.addEventListener('click', async () => {
    const answer = await fetch(`/emulator/subscriptions/${encodeURIComponent(id)}/queue`).catch(() => undefined)
    const { events } = answer?.ok ? await answer.json() : { events: [] }
    list.replaceChildren(
      ...events.map((event) => {
        const until = event.until === undefined ? '' : ` until ${timeOf(event.until)}`
        const facts = `${event.subject || event.id} · ${event.state}${until} · received ${event.deliveryCount} ×`
        return element('li', {}, element('b', {}, event.type), ` ${facts}`)
      }),
    )
  })
  return element('div', {}, button, list)
}

function fillSubscription(subscription, { summary, content }) {
  const { id, handshake, heldUntil: until, waits } = subscription
  const held = until === undefined ? [] : [`held back until ${timeOf(until)}`]
  const post = () => postJson(`/emulator/subscriptions/${encodeURIComponent(id)}/try-now`)
  const trying = { focus: 'try', post }
  summary.replaceChildren(
    element('b', {}, subscription.name),
    ' ',
    element('span', { class: 'state', 'data-tone': toneOf(subscription.state) }, subscription.state),
    ...held.map((text) => element('span', { class: 'fate', 'data-tone': 'wait' }, ` ${text}`)),
    element('span', { class: 'quiet where' }, `${lastPart(subscription.scope)} → ${subscription.endpoint}`),
    // Until it consents, it gets nothing.
    ...(subscription.state === 'AwaitingManualAction' && handshake?.message
      ? [element('span', { class: 'fate where', 'data-tone': 'wait' }, handshake.message)]
      : []),
  )
  const answer = handshake?.status === undefined ? '' : `, ${handshake.status}`
  content.replaceChildren(
    descriptionList([
      ['Handshake', handshake && `${handshake.outcome} (${handshake.method}${answer}) ${dayAndTimeOf(handshake.at)}`],
      ['Message', handshake?.message],
      ['Warning', subscription.warning],
      ['Endpoint', held.map((text) => `${text}, because it failed repeatedly`)],
      ['Filter', subscription.filters.length > 0 ? subscription.filters : 'every event'],
      ['Schema', schemaNames[subscription.schema]],
      ['Batching', subscription.batching],
      ['Retry', subscription.retry],
      ['Dead-letter', subscription.deadLetter === undefined ? 'none: dropped' : `container ${subscription.deadLetter}`],
      ['Entra', subscription.entra],
      ['Expires', subscription.expires],
      ['Headers', subscription.attributes.map(({ name, value }) => `${name}: ${value}`)],
      ['Scope', subscription.scope],
    ]),
    ...(waits || held.length > 0 ? [element('div', { class: 'submit' }, ...postButton('Try now', trying))] : []),
  )
}

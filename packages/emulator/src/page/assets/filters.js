// Which events the filters let through, and how the address keeps these filters.
import { readAddress, writeAddress } from './address.js'
import { byId, element, lastPart } from './elements.js'

const states = {
  open: new Set(['queued', 'sending', 'waiting', 'locked', 'delayed', 'given up']),
  waiting: new Set(['waiting', 'delayed']),
  delivered: new Set(['delivered', 'forwarded']),
  unmatched: new Set(['unserved']),
  lost: new Set(['given up', 'dead-lettered', 'dropped', 'forgotten']),
}

/** The fields, by their names in the address. */
const names = ['text', 'topic', 'subscription', 'status', 'answer']

/** Answers without a status have many texts. */
const answerOf = ({ answer }) => (answer === undefined || /^\d+$/.test(answer) ? answer : 'none')

/** `changed` is called when the reader filters by something else. */
export function createFilters(changed) {
  const fields = names.map((name) => [name, byId(`filter-${name}`)])
  const [text, topic, subscription, status, answer] = fields.map(([, field]) => field)
  const clear = byId('clear')

  function take() {
    const address = readAddress()
    for (const [name, field] of fields) {
      const wanted = address[name] ?? ''
      // What an address names need not be among the events yet.
      if (field !== text && ![...field.options].some(({ value }) => value === wanted))
        field.append(element('option', { value: wanted }, field === answer ? wanted : lastPart(wanted)))
      field.value = wanted
    }
    clear.hidden = !isActive()
  }

  function use() {
    writeAddress(Object.fromEntries(fields.map(([name, field]) => [name, field.value.trim()])))
    clear.hidden = !isActive()
    changed()
  }

  const isActive = () => fields.some(([, field]) => field.value.trim() !== '')

  /** Adds what is missing among the choices: what is chosen stays chosen. */
  function offer(field, choices) {
    const known = new Set([...field.options].map(({ value }) => value))
    for (const [value, label] of choices)
      if (!known.has(value)) {
        known.add(value)
        field.append(element('option', { value }, label))
      }
  }

  for (const [, field] of fields) field.addEventListener('input', use)
  clear.addEventListener('click', () => {
    for (const [, field] of fields) field.value = ''
    use()
    text.focus()
  })
  take()

  return {
    text: () => text.value.trim(),
    isActive,
    /** Takes the filters of the address anew. */
    take,
    /** Offers what the events have. */
    offer(events) {
      const fates = events.flatMap((event) => event.fates)
      offer(
        topic,
        events.map((event) => [event.topic, lastPart(event.topic)]),
      )
      offer(
        subscription,
        fates.map(({ subscriptionId, name }) => [subscriptionId, name]),
      )
      offer(
        answer,
        fates.flatMap((fate) => (/^\d+$/.test(fate.answer ?? '') ? [[fate.answer, fate.answer]] : [])),
      )
    },
    /** Whether an event is shown; `found` are keys of the events whose bodies hold the text. */
    matches(event, found) {
      const { key, type, subject, id, fates } = event
      const part = text.value.trim().toLowerCase()
      if (part !== '' && !found.has(key) && ![type, subject, id].some((one) => one.toLowerCase().includes(part)))
        return false
      if (topic.value !== '' && event.topic !== topic.value) return false
      if (status.value === 'unmatched' && fates.length === 0) return subscription.value + answer.value === ''
      if (subscription.value + status.value + answer.value === '') return true
      const wanted = states[status.value]
      return fates.some(
        (fate) =>
          (subscription.value === '' || fate.subscriptionId === subscription.value) &&
          (wanted === undefined || wanted.has(fate.state)) &&
          (answer.value === '' || answerOf(fate) === answer.value),
      )
    },
  }
}

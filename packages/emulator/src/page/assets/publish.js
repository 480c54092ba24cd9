// How the form publishes an event, and which samples the form offers for a topic.
import { byId, element, publishTo } from './elements.js'

/** The form that publishes an event. The page never sees a topic's key: the emulator adds it. */
export async function createPublishForm() {
  const form = byId('publish')
  const topic = byId('topic')
  const sample = byId('sample')
  const event = byId('event')
  const result = byId('published')
  let samples = []
  let topics = []
  /** What the last sample wrote; anything else is the reader's own and stays. */
  let written = ''

  const schemaOf = (name) => topics.find((one) => one.name === name)?.schema
  const fitting = () => samples.filter(({ schema }) => schema === schemaOf(topic.value))

  function offerSamples() {
    sample.replaceChildren(...fitting().map(({ name }, index) => element('option', { value: String(index) }, name)))
    if (event.value === written) useSample()
  }

  function useSample() {
    const chosen = fitting()[Number(sample.value)]
    if (!chosen) return
    written = JSON.stringify(chosen.event, null, 2)
    event.value = written
    event.setCustomValidity('')
  }

  function say(text, tone) {
    result.textContent = text
    result.dataset.tone = tone
  }

  function checkJson() {
    try {
      JSON.parse(event.value)
      event.setCustomValidity('')
    } catch (error) {
      event.setCustomValidity(`This is not JSON: ${error.message}`)
    }
  }

  async function publish() {
    say('Publishing', 'wait')
    const refused = await publishTo(topic.value, event.value)
    say(refused ?? 'Accepted', refused === undefined ? 'ok' : 'bad')
  }

  topic.addEventListener('change', offerSamples)
  sample.addEventListener('change', useSample)
  event.addEventListener('input', () => {
    checkJson()
    if (result.dataset.tone === 'bad') say('', 'wait')
  })
  // The browser's own bubble is gone after a moment.
  event.addEventListener('invalid', () => say(event.validationMessage, 'bad'))
  event.addEventListener('keydown', (pressed) => {
    if (pressed.key === 'Enter' && (pressed.ctrlKey || pressed.metaKey)) form.requestSubmit()
  })
  form.addEventListener('submit', (submitted) => {
    submitted.preventDefault()
    publish()
  })

  const answer = await fetch('/page/samples.json')
  if (answer.ok) samples = await answer.json()

  return {
    /** The topics there are; the chosen one stays chosen. */
    useTopics(next) {
      const same = JSON.stringify(next.map(({ name, schema }) => [name, schema]))
      if (same === JSON.stringify(topics.map(({ name, schema }) => [name, schema]))) return
      topics = next
      const chosen = topic.value
      topic.replaceChildren(...next.map(({ name }) => element('option', { value: name }, name)))
      if (next.some(({ name }) => name === chosen)) topic.value = chosen
      offerSamples()
    },
    /** Takes an event to the form. */
    edit(name, text) {
      topic.value = name
      offerSamples()
      event.value = text
      event.setCustomValidity('')
      say('', 'wait')
      event.focus()
    },
  }
}

/** A CloudEvent of a megabyte as JSON, whose data is nothing but brackets: parsed it takes about 28 times as much. */
export function bracketEvent(id: string): string {
  const levels = 524_000
  const data = '['.repeat(levels) + ']'.repeat(levels)
  return `{"specversion":"1.0","id":"${id}","source":"/shop","type":"Shop.Order.Placed","data":${data}}`
}

/** Delivers ten of them at once to a listener that trusts anybody; resolves with the statuses of the answers. */
export function deliverBrackets(port: number | string): Promise<readonly number[]> {
  const answers = Array.from({ length: 10 }, async (_, id) => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/cloudevents+json', 'aeg-subscription-name': 'ORDERS' },
      body: bracketEvent(String(id)),
    })
    return answer.status
  })
  return Promise.all(answers)
}

/** The name of a topic, from its URL. */

/** The name of a topic: that in a path `/topics/{name}`, else the first label of a host of Azure; `undefined` for other hosts. */
export function topicName({ pathname, hostname }: URL): string | undefined {
  const named = /^\/topics\/([^/:]+)/.exec(pathname)?.[1]
  return named ?? /^([^.]+)\..*\beventgrid\.azure\.(?:net|cn|us)$/.exec(hostname)?.[1]
}

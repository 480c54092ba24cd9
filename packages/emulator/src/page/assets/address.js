// How the address of the page names its filters and the event that is open.

/** The fields of the address, after its `#`. */
export const readAddress = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)))

/** The address of this page with some fields changed; an empty value leaves a field out. */
export function addressWith(changes) {
  const fields = new URLSearchParams(Object.entries({ ...readAddress(), ...changes }).filter(([, value]) => value))
  return fields.size > 0 ? `#${fields}` : location.pathname
}

export const writeAddress = (changes) => history.replaceState(null, '', addressWith(changes))

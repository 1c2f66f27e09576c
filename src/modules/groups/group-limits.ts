export const GROUPS_MAX = 5_000
/** Limits what is read with each key of the person. */
export const GROUPS_OF_PERSON_MAX = 100

// How a search in the documents ranks what it finds; Sphinx includes it in its script.
//
// These are Sphinx's own numbers except those of `objPrio`: names of the main namespace
// have priority 0 and come before equal names elsewhere, and an equal name elsewhere
// comes before a longer name of the main namespace.
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 7, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

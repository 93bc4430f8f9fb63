// How a search in the documents divides a query and ranks what it finds; Sphinx includes
// it in its script.

// What programs write before a name; tools/reference.py shortens names by the same words.
const MODULES = { tw: "tensorweb", np: "tensorweb.numpy", x: "tensorweb.Tensor" };

// The full name that the query spells, if it is a name.
let spelled = "";

// `np.percentile` is found by its module and its name, and `nn.Linear` too.
var splitQuery = (query) => {
  const name = query.trim().replace(/\(\)$/, "");
  const [first, ...others] = /^[\w.]+$/.test(name) ? name.split(".") : [""];
  const known = Object.hasOwn(MODULES, first) && others.length > 0;
  const within = known ? MODULES[first] : "tensorweb";
  spelled = [within, ...(known || first === "tensorweb" ? [] : [first]), ...others].join(".");
  const words = known ? spelled.toLowerCase() : query;
  return words.split(/[^\p{Letter}\p{Number}_\p{Emoji_Presentation}]+/gu).filter((word) => word);
};

// The numbers are Sphinx's own except those of `objPrio`: names of the main namespace
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
  // The entry of the name that the query spells is first, in the same case or not.
  score: ([, title, , , score]) => {
    if (title === spelled) return score + 200;
    return title.toLowerCase() === spelled.toLowerCase() ? score + 100 : score;
  },
};

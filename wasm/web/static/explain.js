// What verdicts, checks and claims mean, in plain words.

// verdicts are the classes of the verifier's results.
export const verdicts = {
  accepted: { icon: "✓", title: "Accepted", means: "The proof is valid: the program ran correctly and gave these results." },
  rejected: { icon: "✕", title: "Rejected", means: "This is a proof by its form, but it does not prove what it claims. Do not rely on its claims." },
  malformed: { icon: "✕", title: "Malformed", means: "An input could not be read, so nothing was checked. Files that were cut short or changed in transfer look like this." },
  incompatible: { icon: "≠", title: "Another key or version", means: "The proof was not checked, because it does not belong to this key or to this version of the verifier." },
  limit: { icon: "!", title: "Too large", means: "An input is larger than the verifier takes, so nothing was checked." },
  invalid: { icon: "!", title: "Impossible demand", means: "What you demand cannot be checked against this key, so nothing was checked." },
  internal: { icon: "!", title: "No verdict", means: "The verifier itself failed. This says nothing about the proof." },
};

const altered = "Someone changed the proof after it was made, or it was damaged on the way.";
const shape = "The proof's parts do not fit together in the one way that the key prescribes. An honest prover does not make such a proof.";

// checks are those of docs/protocol.md, section 9.
export const checks = {
  "P-1": "The proof is longer than is allowed.",
  "P-2": "The proof is not written in the one encoding that is valid. It was cut short, has something added, or was never a proof.",
  "P-3": "This is another kind of file, or a proof of a version that this verifier does not know. A verifying key dropped as a proof looks like this.",
  "P-4": "The proof was made for another program or security profile than the key that you chose.",
  "P-5": "The proof makes no claim, or more claims than are allowed.",
  "P-6": "A claim is about an entry that the program does not have.",
  "P-7": "A claim has more or fewer values than its entry takes and gives.",
  "P-8": "A value of a claim is outside the range of its type.",
  "P-9": "The proof claims something else than what you said you expect. It may well be valid for its own claims.",
  "P-10": `The number of the proof's shards is out of range. ${shape}`,
  "P-11": `The number of tables in a shard is out of range. ${shape}`,
  "P-12": `A table is of a circuit that the key does not have. ${shape}`,
  "P-13": `Tables are out of order or occur twice. ${shape}`,
  "P-14": `A table is shorter or taller than is allowed. ${shape}`,
  "P-15": `A fixed table does not have its fixed height. ${shape}`,
  "P-16": "The tables are so large that counters could overflow, and with that false claims could pass.",
  "P-17": "The proof may be right, but with its parameters it is easier to forge than you accept. Proofs under the profiles dev and root-dev are only for tests: to see one checked, open “Demand more, or less” and accept any number of bits.",
  "P-18": `The commitment to the lookups is missing, or there without lookups. ${shape}`,
  "P-19": `The number of lookup sums is not that of the tables. ${shape}`,
  "P-20": `The number of opened values is not what the key prescribes. ${shape}`,
  "P-21": `The number of rounds of the low-degree test is not what the shape prescribes. ${shape}`,
  "P-22": `The last polynomial of the low-degree test does not have the prescribed length. ${shape}`,
  "P-23": `The number of Merkle openings is not what the shape prescribes. ${shape}`,
  "P-24": "A claim hits a lookup challenge by chance. For an honest proof this is as good as impossible.",
  "P-25": "What the claims ask for is not what the tables answer: the sums that must cancel do not. The claims were changed, or a table's answers are made up.",
  "P-26": "A random point fell where it must not. For an honest proof this is as good as impossible.",
  "P-27": `The program's rules do not hold at a random point of the execution. The execution breaks the rules, or the proof was changed. ${altered}`,
  "P-28": `The proof's small puzzle, which makes trial and error costly for forgers, is not solved. Any change to what comes before it has this effect. ${altered}`,
  "P-29": `A Merkle opening has too many or too few rows for the positions that were drawn. Any change to the proof draws other positions. ${altered}`,
  "P-30": `A Merkle opening has too many or too few sibling hashes for the positions that were drawn. ${altered}`,
  "P-31": `Opened rows do not hash to the root that the prover committed to. ${altered}`,
  "P-32": `A round of the low-degree test has too many or too few values. ${altered}`,
  "P-33": `A round of the low-degree test has too many or too few sibling hashes. ${altered}`,
  "P-34": `A round of the low-degree test does not lead to its root: its values were changed, or do not follow from the round before. ${altered}`,
  "P-35": "The low-degree test fails at its end: the committed tables are not what the program's rules allow.",
  "P-36": "Checking this proof would take more work than a verifier does for one proof. The prover can make smaller proofs of the same claims.",
  "P-37": `A hash in the proof is not written in the one way that the key's hash function has for it. ${altered}`,
  "P-38": "An entry that states nothing, such as the memory of a program, must be claimed exactly once. Whoever made the proof left its claim out or made it twice.",
  "K-1": "The key is not written in the one encoding that is valid, or is too long. Is this a key file?",
  "K-2": "This is another kind of file, or a key of a version that this verifier does not know. A proof given as a key looks like this.",
  "K-3": "The key asks for a hash function that this verifier does not have. Roots, which are made to be compressed, are checked with ixprove verify.",
  "K-4": "The key's security parameters are none of the profiles that this verifier knows, or are for another hash function.",
  "K-5": "Names in the key are empty or occur twice.",
  "K-6": "An entry of the key is missing or not usable.",
  "K-7": "A formula of the key refers to something that is not there.",
  "K-8": "A rule of the key has too high a degree to be checked soundly.",
  "K-9": "A lookup of the key is not usable.",
  "K-10": "A table's height in the key is out of range.",
  "K-11": "A circuit of the key has too few or too many columns, or no rule at all.",
  "K-12": "The hash of a fixed table in the key is not one of the key's hash function.",
};

// places say which of the inputs an error is about.
export const inputs = { proof: "the proof", key: "the key", policy: "your demands" };

// statements say what a claim of a built-in program means. Names in other keys are their authors': they get none.
export const statements = {
  blake3: ({ digest, length }) => `The prover knew a file of ${length} bytes whose BLAKE3 digest is ${digest}.`,
  fibonacci: ({ n, value }) => `Fibonacci number ${n}, modulo 2⁶⁴ − 2³² + 1, is ${value}.`,
};

// programs say what the built-in programs prove.
export const programs = {
  blake3: "BLAKE3 digest of a file",
  fibonacci: "Fibonacci numbers",
};

// matrices are the kinds of committed tables, as sizes list them.
export const matrices = { fixed: "fixed", main: "main", auxiliary: "lookup", quotient: "quotient" };

// Tasks: how many.
import { tasksOf } from "../task.ts";

const access = ["GET /index 200", "GET /a 404", "POST /login 200", "GET /b 404", "GET /c 500", "GET /404-help 200", "GET /d 404", "GET /e 200", "POST /f 404", "GET /g 404"].join("\n");
const orders = "id,city,total\n201,Oslo,20\n202,Bergen,35\n203,Oslo,12\n204,Tromso,50\n205,Oslo,7\n206,Bergen,9\n207,Oslo,31\n";
const shapes = "class Shape:\n    def area(self):\n        return 0\n\n    def name(self):\n        return 'shape'\n\n\nclass Square(Shape):\n    def __init__(self, side):\n        self.side = side\n\n    def area(self):\n        return self.side ** 2\n\n\ndef total(shapes):\n    return sum(shape.area() for shape in shapes)\n\n\ndef largest(shapes):\n    return max(shape.area() for shape in shapes)\n\n\n# def unused(): pass\n";
const packing = "# Packing\n\n## Clothes\n\n- [x] boots\n- [ ] raincoat\n- [ ] hat\n- [ ] socks\n\n## Kitchen\n\n- [ ] stove\n- [x] pot\n- [ ] matches\n\n## Rest\n\n- [ ] map\n- [x] torch\n- [ ] rope\n";

export const countTasks = tasksOf("count", [
  {
    name: "count-status-lines",
    prompt: "How many requests in access.log ended with status 404?",
    files: { "access.log": `${access}\n` },
    count: 5,
    solution: { reply: "5 requests ended with status 404." },
    alsoRight: ["Five requests ended with status 404.", "5"],
    wrong: ["6 requests ended with 404.", "404", "4 or 5 requests."],
  },
  {
    name: "count-city-orders",
    prompt: "how many orders came from Oslo? (orders.csv)",
    files: { "orders.csv": orders },
    count: 4,
    solution: { reply: "There are 4 orders from Oslo." },
    alsoRight: ["4 orders (201, 203, 205 and 207)", "Four."],
    wrong: ["There are 3.", "7 orders in total", "1 2 3 4 5 6 7"],
  },
  {
    name: "count-functions",
    prompt: "Count the functions and methods that are defined in shapes.py. Give me the number.",
    files: { "shapes.py": shapes },
    count: 6,
    solution: { reply: "There are 6: four methods and two functions." },
    alsoRight: ["The number is **6**.", "There are six functions and methods in shapes.py."],
    wrong: ["7", "There are 5.", "2 classes"],
  },
  {
    name: "count-markdown-files",
    prompt: "How many markdown files are there in this project, at any depth?",
    files: { "README.md": "# r\n", "docs/one.md": "1\n", "docs/two.md": "2\n", "docs/deep/three.md": "3\n", "docs/deep/four.markdown.txt": "no\n", "docs/img.md.png": "no", "src/CHANGES.md": "c\n", "src/a.ts": "1;\n", "old/x.md": "x\n" },
    count: 6,
    solution: { reply: "There are 6 Markdown files." },
    wrong: ["There are 7 Markdown files.", "5", "Nine files"],
  },
  {
    name: "count-unticked-items",
    prompt: "how many things on packing.md are not ticked off yet?",
    files: { "packing.md": packing },
    count: 7,
    solution: { reply: "7 things are not ticked off yet." },
    alsoRight: ["Seven of the ten.", "There are 7: raincoat, hat, socks, stove, matches, map and rope."],
    wrong: ["3 things.", "There are 10 things on the list.", "6"],
  },
]);

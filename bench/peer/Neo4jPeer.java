// Neo4j embedded, for `npm run bench -- ldbc`. bench/peer/neo4j-peer.ts compiles and starts this program:
//   java -cp ... Neo4jPeer STORE FOLDER
// STORE is the folder of the database. FOLDER is a JSON file that describes the files to load:
//   {"nodes": [{"type", "path", "delimiter", "columns": [[name, "I64" or "String"]]}], "edges": [... "ends"]}
// Requests are lines on standard input, responses are lines on standard output, each a JSON object:
//   {"op": "load"} -> {"rows": count}, 0 if the store is full already
//   {"op": "rows", "query": name, "args": {...}} -> {"rows": [{...}]}
//   {"op": "time", "query": name, "calls": [{...}], "seconds": s} -> {"perSecond", "p50", "p99", "cpu"}
// Queries use the core API on one thread, each in a transaction: Cypher takes several times as long for them.
// Invariant: a timed call returns its rows as Java objects, and "cpu" is the CPU time of all threads.
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.*;
import java.util.concurrent.TimeUnit;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.graphdb.*;

public class Neo4jPeer {
  static final ObjectMapper json = new ObjectMapper();
  static GraphDatabaseService db;
  static final Map<String, RelationshipType> types = new HashMap<>();

  static RelationshipType type(String name) {
    return types.computeIfAbsent(name, RelationshipType::withName);
  }

  public static void main(String[] args) throws Exception {
    PrintStream out = System.out;
    System.setOut(System.err);
    var service =
        new DatabaseManagementServiceBuilder(Path.of(args[0]))
            .setConfig(GraphDatabaseSettings.pagecache_memory, 1L << 30)
            .build();
    db = service.database("neo4j");
    out.println("{\"ready\":true}");
    var in = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = in.readLine()) != null; ) {
      try {
        out.println(json.writeValueAsString(answer(json.readTree(line), Path.of(args[1]))));
      } catch (Throwable error) {
        out.println(json.writeValueAsString(Map.of("error", String.valueOf(error))));
      }
      out.flush();
    }
    service.shutdown();
  }

  static Map<String, Object> answer(JsonNode request, Path folder) throws Exception {
    String op = request.get("op").asText();
    if (op.equals("load")) return Map.of("rows", load(json.readTree(folder.toFile())));
    String query = request.get("query").asText();
    if (op.equals("rows")) return Map.of("rows", run(query, argsOf(request.get("args"))));
    List<Map<String, Object>> calls = new ArrayList<>();
    for (JsonNode call : request.get("calls")) calls.add(argsOf(call));
    return time(query, calls, request.get("seconds").asDouble());
  }

  static Map<String, Object> argsOf(JsonNode node) {
    Map<String, Object> args = new HashMap<>();
    node.fields()
        .forEachRemaining(
            e -> args.put(e.getKey(), e.getValue().isNumber() ? (Object) e.getValue().asLong() : e.getValue().asText()));
    return args;
  }

  static final Set<String> warm = new HashSet<>();

  static Map<String, Object> time(String query, List<Map<String, Object>> calls, double seconds) {
    // The compiler of the JVM needs some thousand calls.
    if (warm.add(query)) measure(query, calls, Math.max(2, seconds));
    return measure(query, calls, seconds);
  }

  static Map<String, Object> measure(String query, List<Map<String, Object>> calls, double seconds) {
    var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long[] times = new long[1 << 16];
    int count = 0;
    long before = system.getProcessCpuTime();
    long started = System.nanoTime();
    long end = started + (long) (seconds * 1e9);
    long now = started;
    while (now < end) {
      run(query, calls.get(count % calls.size()));
      long after = System.nanoTime();
      if (count == times.length) times = Arrays.copyOf(times, 2 * count);
      times[count++] = after - now;
      now = after;
    }
    double cpu = (system.getProcessCpuTime() - before) / 1e3 / count;
    long[] sorted = Arrays.copyOf(times, count);
    Arrays.sort(sorted);
    return Map.of(
        "perSecond", count / ((now - started) / 1e9),
        "p50", sorted[count / 2] / 1e3,
        "p99", sorted[Math.min(count - 1, (int) (count * 0.99))] / 1e3,
        "cpu", cpu);
  }

  // Loading

  static long load(JsonNode folder) throws Exception {
    try (Transaction tx = db.beginTx()) {
      if (tx.schema().getConstraints().iterator().hasNext()) return 0;
    }
    long rows = 0;
    Map<String, Map<Long, String>> ids = new HashMap<>();
    for (JsonNode file : folder.get("nodes")) {
      String type = file.get("type").asText();
      ids.put(type, new HashMap<>());
      rows += eachBatch(file, (tx, fields) -> {
        Node node = tx.createNode(Label.label(type));
        long id = Long.parseLong(fields.get(0));
        node.setProperty("id", id);
        setProperties(node, file, fields, 1);
        ids.get(type).put(id, node.getElementId());
      });
      try (Transaction tx = db.beginTx()) {
        tx.schema().constraintFor(Label.label(type)).assertPropertyIsUnique("id").create();
        if (type.equals("TagClass")) tx.schema().indexFor(Label.label(type)).on("name").create();
        tx.commit();
      }
    }
    for (JsonNode file : folder.get("edges")) {
      RelationshipType type = type(file.get("type").asText());
      Map<Long, String> starts = ids.get(file.get("ends").get(0).asText());
      Map<Long, String> ends = ids.get(file.get("ends").get(1).asText());
      rows += eachBatch(file, (tx, fields) -> {
        Node from = tx.getNodeByElementId(starts.get(Long.parseLong(fields.get(0))));
        Node to = tx.getNodeByElementId(ends.get(Long.parseLong(fields.get(1))));
        setProperties(from.createRelationshipTo(to, type), file, fields, 2);
      });
    }
    try (Transaction tx = db.beginTx()) {
      tx.schema().awaitIndexesOnline(5, TimeUnit.MINUTES);
    }
    return rows;
  }

  interface Row {
    void add(Transaction tx, List<String> fields);
  }

  static long eachBatch(JsonNode file, Row row) throws Exception {
    char delimiter = file.get("delimiter").asText().charAt(0);
    long rows = 0;
    try (BufferedReader in = Files.newBufferedReader(Path.of(file.get("path").asText()))) {
      in.readLine();
      Transaction tx = db.beginTx();
      for (String line; (line = in.readLine()) != null; ) {
        if (line.isEmpty()) continue;
        row.add(tx, fieldsOf(line, delimiter));
        if (++rows % 20_000 != 0) continue;
        tx.commit();
        tx.close();
        tx = db.beginTx();
      }
      tx.commit();
      tx.close();
    }
    return rows;
  }

  static List<String> fieldsOf(String line, char delimiter) {
    List<String> fields = new ArrayList<>();
    StringBuilder field = new StringBuilder();
    boolean isInside = false;
    for (int i = 0; i < line.length(); i++) {
      char c = line.charAt(i);
      if (c == '"') isInside = !isInside;
      else if (c == delimiter && !isInside) {
        fields.add(field.toString());
        field.setLength(0);
      } else field.append(c);
    }
    fields.add(field.toString());
    return fields;
  }

  static void setProperties(Entity entity, JsonNode file, List<String> fields, int at) {
    int i = at;
    for (JsonNode column : file.get("columns")) {
      String value = i < fields.size() ? fields.get(i) : "";
      i++;
      if (value.isEmpty()) continue;
      boolean isNumber = column.get(1).asText().equals("I64");
      entity.setProperty(column.get(0).asText(), isNumber ? (Object) Long.parseLong(value) : value);
    }
  }

  // Queries

  static List<Map<String, Object>> run(String query, Map<String, Object> args) {
    try (Transaction tx = db.beginTx()) {
      return switch (query) {
        case "IS1" -> is1(tx, args);
        case "IS3" -> is3(tx, args);
        case "IS5" -> is5(tx, args);
        case "IS6" -> is6(tx, args);
        case "IS7" -> is7(tx, args);
        case "KHOP1" -> ring(tx, args, 1);
        case "KHOP2" -> ring(tx, args, 2);
        case "KHOP3" -> ring(tx, args, 3);
        case "IC1" -> ic1(tx, args);
        case "IC11" -> ic11(tx, args);
        case "IC12" -> ic12(tx, args);
        case "IC13" -> ic13(tx, args);
        default -> throw new IllegalArgumentException(query);
      };
    }
  }

  static Node find(Transaction tx, String label, Object id) {
    return tx.findNode(Label.label(label), "id", id);
  }

  static List<Node> ends(Node node, Direction way, String name) {
    List<Node> found = new ArrayList<>();
    for (Relationship edge : node.getRelationships(way, type(name))) found.add(edge.getOtherNode(node));
    return found;
  }

  static Node end(Node node, Direction way, String name) {
    List<Node> found = ends(node, way, name);
    return found.isEmpty() ? null : found.get(0);
  }

  static Map<String, Object> row(Object... pairs) {
    Map<String, Object> row = new HashMap<>();
    for (int i = 0; i < pairs.length; i += 2) row.put((String) pairs[i], pairs[i + 1]);
    return row;
  }

  static final String[] personal = {
    "firstName", "lastName", "gender", "birthday", "creationDate", "locationIP", "browserUsed"
  };

  static List<Map<String, Object>> is1(Transaction tx, Map<String, Object> args) {
    Node person = find(tx, "Person", args.get("personId"));
    Map<String, Object> row = new HashMap<>(person.getProperties(personal));
    row.put("cityId", end(person, Direction.OUTGOING, "PersonIsLocatedIn").getProperty("id"));
    return List.of(row);
  }

  static List<Map<String, Object>> is3(Transaction tx, Map<String, Object> args) {
    Node person = find(tx, "Person", args.get("personId"));
    List<Map<String, Object>> rows = new ArrayList<>();
    for (Relationship knows : person.getRelationships(Direction.BOTH, type("Knows"))) {
      Node friend = knows.getOtherNode(person);
      rows.add(
          row(
              "id", friend.getProperty("id"),
              "first", friend.getProperty("firstName"),
              "last", friend.getProperty("lastName"),
              "since", knows.getProperty("creationDate")));
    }
    rows.sort(by("-since", "id"));
    return rows;
  }

  static List<Map<String, Object>> is5(Transaction tx, Map<String, Object> args) {
    List<Map<String, Object>> rows = new ArrayList<>();
    for (String label : List.of("Comment", "Post")) {
      Node message = find(tx, label, args.get("id"));
      if (message == null) continue;
      for (Node person : ends(message, Direction.OUTGOING, label + "HasCreator"))
        rows.add(
            row(
                "ldbcId", person.getProperty("id"),
                "firstName", person.getProperty("firstName"),
                "lastName", person.getProperty("lastName")));
    }
    return rows;
  }

  static List<Map<String, Object>> is6(Transaction tx, Map<String, Object> args) {
    Node at = find(tx, "Comment", args.get("commentId"));
    for (Node next; (next = end(at, Direction.OUTGOING, "ReplyOfComment")) != null; ) at = next;
    Node post = end(at, Direction.OUTGOING, "ReplyOfPost");
    List<Map<String, Object>> rows = new ArrayList<>();
    for (Node forum : ends(post, Direction.INCOMING, "ContainerOf"))
      rows.add(
          row(
              "id", forum.getProperty("id"),
              "title", forum.getProperty("title"),
              "moderator", end(forum, Direction.OUTGOING, "HasModerator").getProperty("id")));
    return rows;
  }

  static List<Map<String, Object>> is7(Transaction tx, Map<String, Object> args) {
    List<Map<String, Object>> rows = new ArrayList<>();
    for (String label : List.of("Comment", "Post")) {
      Node message = find(tx, label, args.get("id"));
      if (message == null) continue;
      Node creator = end(message, Direction.OUTGOING, label + "HasCreator");
      Set<Long> friends = new HashSet<>();
      for (Node friend : ends(creator, Direction.BOTH, "Knows")) friends.add(friend.getId());
      for (Node reply : ends(message, Direction.INCOMING, "ReplyOf" + label)) {
        Node author = end(reply, Direction.OUTGOING, "CommentHasCreator");
        rows.add(
            row(
                "id", reply.getProperty("id"),
                "author", author.getProperty("id"),
                "knows", friends.contains(author.getId())));
      }
    }
    rows.sort(by("id"));
    return rows;
  }

  /** Persons by their distance, from 1 on. */
  static List<List<Node>> rings(Node start, int most) {
    Set<Long> seen = new HashSet<>(Set.of(start.getId()));
    List<List<Node>> rings = new ArrayList<>();
    List<Node> ring = List.of(start);
    while (rings.size() < most) {
      List<Node> next = new ArrayList<>();
      for (Node each : ring)
        for (Relationship edge : each.getRelationships(Direction.BOTH, type("Knows"))) {
          Node other = edge.getOtherNode(each);
          if (seen.add(other.getId())) next.add(other);
        }
      ring = next;
      rings.add(ring);
    }
    return rings;
  }

  static List<Map<String, Object>> ring(Transaction tx, Map<String, Object> args, int hops) {
    Node person = find(tx, "Person", args.get("personId"));
    // No set is needed for one hop: a pair of persons has one edge.
    if (hops == 1) return List.of(row("count", person.getDegree(type("Knows"), Direction.BOTH)));
    return List.of(row("count", rings(person, hops).get(hops - 1).size()));
  }

  static List<Map<String, Object>> ic1(Transaction tx, Map<String, Object> args) {
    List<Map<String, Object>> rows = new ArrayList<>();
    int distance = 0;
    for (List<Node> ring : rings(find(tx, "Person", args.get("personId")), 3)) {
      distance++;
      for (Node person : ring)
        if (person.getProperty("firstName").equals(args.get("firstName")))
          rows.add(
              row(
                  "id", person.getProperty("id"),
                  "distance", distance,
                  "lastName", person.getProperty("lastName")));
    }
    rows.sort(by("distance", "lastName", "id"));
    return rows.subList(0, Math.min(20, rows.size()));
  }

  static List<Map<String, Object>> ic11(Transaction tx, Map<String, Object> args) {
    Node country = find(tx, "Place", args.get("countryId"));
    long before = (Long) args.get("beforeYear");
    List<Map<String, Object>> rows = new ArrayList<>();
    for (List<Node> ring : rings(find(tx, "Person", args.get("personId")), 2))
      for (Node person : ring)
        for (Relationship job : person.getRelationships(Direction.OUTGOING, type("WorkAt"))) {
          long from = (Long) job.getProperty("workFrom");
          if (from >= before) continue;
          Node place = end(job.getEndNode(), Direction.OUTGOING, "OrganisationIsLocatedIn");
          if (!country.equals(place)) continue;
          rows.add(
              row(
                  "id", person.getProperty("id"),
                  "first", person.getProperty("firstName"),
                  "last", person.getProperty("lastName"),
                  "org", job.getEndNode().getProperty("name"),
                  "workFrom", from));
        }
    rows.sort(by("workFrom", "id", "-org"));
    return rows.subList(0, Math.min(10, rows.size()));
  }

  static List<Map<String, Object>> ic12(Transaction tx, Map<String, Object> args) {
    Set<Long> tags = new HashSet<>();
    Deque<Node> classes = new ArrayDeque<>();
    classes.add(tx.findNode(Label.label("TagClass"), "name", args.get("tagClass")));
    while (!classes.isEmpty()) {
      Node each = classes.poll();
      classes.addAll(ends(each, Direction.INCOMING, "IsSubclassOf"));
      for (Node tag : ends(each, Direction.INCOMING, "HasType")) tags.add(tag.getId());
    }
    List<Map<String, Object>> rows = new ArrayList<>();
    for (Node friend : ends(find(tx, "Person", args.get("personId")), Direction.BOTH, "Knows")) {
      int count = 0;
      Set<String> names = new TreeSet<>();
      for (Node comment : ends(friend, Direction.INCOMING, "CommentHasCreator")) {
        Node post = end(comment, Direction.OUTGOING, "ReplyOfPost");
        if (post == null) continue;
        boolean isAbout = false;
        for (Node tag : ends(post, Direction.OUTGOING, "PostHasTag")) {
          if (!tags.contains(tag.getId())) continue;
          isAbout = true;
          names.add((String) tag.getProperty("name"));
        }
        if (isAbout) count++;
      }
      if (count > 0)
        rows.add(row("id", friend.getProperty("id"), "n", count, "tags", List.copyOf(names)));
    }
    rows.sort(by("-n", "id"));
    return rows.subList(0, Math.min(20, rows.size()));
  }

  /** Breadth-first search from both ends by turns, the smaller side first. */
  static List<Map<String, Object>> ic13(Transaction tx, Map<String, Object> args) {
    Node a = find(tx, "Person", args.get("a"));
    Node b = find(tx, "Person", args.get("b"));
    if (a.equals(b)) return List.of(row("hops", 0));
    Map<Long, Node> near = Map.of(a.getId(), a), far = Map.of(b.getId(), b);
    Set<Long> seenNear = new HashSet<>(near.keySet()), seenFar = new HashSet<>(far.keySet());
    for (int hops = 1; !near.isEmpty(); hops++) {
      Map<Long, Node> next = new HashMap<>();
      for (Node each : near.values())
        for (Relationship edge : each.getRelationships(Direction.BOTH, type("Knows"))) {
          Node other = edge.getOtherNode(each);
          if (far.containsKey(other.getId())) return List.of(row("hops", hops));
          if (seenNear.add(other.getId())) next.put(other.getId(), other);
        }
      near = next;
      if (near.size() <= far.size()) continue;
      Map<Long, Node> nodes = near;
      near = far;
      far = nodes;
      Set<Long> seen = seenNear;
      seenNear = seenFar;
      seenFar = seen;
    }
    return List.of(row("hops", -1));
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  static Comparator<Map<String, Object>> by(String... keys) {
    return (a, b) -> {
      for (String key : keys) {
        boolean isDescending = key.startsWith("-");
        String name = isDescending ? key.substring(1) : key;
        int order = ((Comparable) a.get(name)).compareTo(b.get(name));
        if (order != 0) return isDescending ? -order : order;
      }
      return 0;
    };
  }
}
